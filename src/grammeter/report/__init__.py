"""Values to text and pictures: tables, explanations, figures."""
