"""Every rule of a campaign; pages and commands only call these.

======================  ==========================================================
``campaigns``           make a campaign, find one
``loading``             a finished evaluation becomes a campaign
``assign``              which item a judge gets next: planned, pool, adaptive
``outlooks``            what an adaptive campaign knows of its ranking, kept between draws
``pages``               what of an item may leave the server
``answers``             keep what a judge answers, every version once
``invites``             one-time links
``judges``              sessions, consent, the form, the end, forgetting
``organisers``          accounts, and who may see which campaign
``throttle``            slow down guessing
``results``             judgments, progress, agreement, ranking, export
``audit``               who did what
``database``            open, upgrade, copy
======================  ==========================================================

All raise the errors of :mod:`grammeter.core.errors` for what a user can mend, and Django's
``PermissionDenied`` for what somebody may not do.
"""
