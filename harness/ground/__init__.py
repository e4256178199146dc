"""The ground of a survey: documents, questions with their evidence in place, and the answers that bots gave."""
