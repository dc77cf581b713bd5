"""Mr-Ben: a model finds the error in a worked solution; MR-Score."""
