"""The parts of the careful reader of choices: text, wordings, options, mentions, wrapped answers."""
