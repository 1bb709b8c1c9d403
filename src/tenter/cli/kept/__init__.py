"""What a picture carries beside its pixels, and how it is brought up to date."""
