"""Questions reworded on purpose, each with what must become of the answer."""
