// A page that is complete without a script; the script only switches the theme.

themes();
