"""Raw field values made into the text that a system sees."""
