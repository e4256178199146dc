"""What judges were asked and said: kept, so that nothing is paid twice, and told in reports."""
