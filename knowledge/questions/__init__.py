"""Questions: files of questions and recorded answers, drafts from documents, and editing."""
