"""The engine room: questions are asked, answers judged and scored, rows handed to the writer."""
