"""Api: what `import proctor` offers, put together from the rooms below; each name is imported when it is asked for."""
