"""From figures to what people read."""
