"""All rules of campaigns; pages and commands only call these."""
