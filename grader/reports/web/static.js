// A page that is complete without a script: only the theme is chosen here.

themes();
