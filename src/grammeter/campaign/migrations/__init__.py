"""How the tables of a campaign database came about, step by step."""
