"""The only room that names torch or transformers: models found, loaded, asked in batches."""
