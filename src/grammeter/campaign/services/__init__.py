"""Every rule of a campaign; pages and commands only call these.

======================  ==========================================================
``campaigns``           make a campaign, find one
``loading``             a finished evaluation becomes a campaign
``stock``               sentences, outputs, items and lists, gathered and stored at once
``checks``              items with a known answer, read from files
``assign``              which item a judge gets next: planned, pool, adaptive
``draws``               draws from a pool, with attention items and repeats between them
``order``               orders by the seed, slots
``adaptive``            which items tell most about the ranking
``downloads``           what an organiser can take away, as texts
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
