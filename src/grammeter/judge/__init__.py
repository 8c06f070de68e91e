"""The only room that talks to a language model: prompts, their replies, a careful client."""
