// Has the headers that most files share, precompiled.
