"""The addresses of the pages."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from grammeter.campaign.views import accounts, items, joining, organise

urlpatterns: list[URLPattern | URLResolver] = [
    path("", joining.home, name="home"),
    path("join/<str:token>/", joining.join, name="join"),
    path("judge/", items.work, name="work"),
    path("judge/session", joining.session, name="session"),
    path("judge/consent", joining.consent, name="consent"),
    path("judge/about", joining.about, name="about"),
    path("judge/guidelines", joining.guidelines, name="guidelines"),
    path("judge/items/<int:number>/", items.item, name="item"),
    path("judge/answers", items.history, name="answers"),
    path("judge/done", items.done, name="done"),
    path("login", accounts.login, name="login"),
    path("logout", accounts.logout, name="logout"),
    path("organise/", organise.campaigns, name="campaigns"),
    path("organise/<int:number>/", organise.campaign, name="campaign"),
    path("organise/<int:number>/progress", organise.progress, name="progress"),
    path("organise/<int:number>/results", organise.result_page, name="results"),
    path("organise/<int:number>/judges", organise.judge_page, name="judges"),
    path("organise/<int:number>/invite", organise.invite, name="invite"),
    path("organise/<int:number>/judges/<int:judge>/again", organise.invite_again, name="again"),
    path("organise/<int:number>/judges/<int:judge>/block", organise.block, name="block"),
    path("organise/<int:number>/judges/<int:judge>/note", organise.note, name="note"),
    path("organise/<int:number>/invites/<int:invite>/revoke", organise.revoke, name="revoke"),
    path("organise/<int:number>/close", organise.close, name="close"),
    path("organise/<int:number>/reopen", organise.reopen, name="reopen"),
    path("organise/<int:number>/export/<str:form>", organise.export, name="export"),
    path("organise/<int:number>/audit", organise.audit_page, name="audit"),
]
