"""What the words mean: facts and rules, pure, standard library only."""
