"""Values to text: tables and explanations."""
