"""What a person sees before they answer, and what they may answer, whatever it is drawn with."""
