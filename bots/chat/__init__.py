"""Chat models: OpenAI-compatible, LangChain and the embedded extractive one, with retries and limits."""
