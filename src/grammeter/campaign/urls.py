"""The addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path
from django.views.i18n import JavaScriptCatalog, set_language

from grammeter.campaign.views import judging, organise

_ORGANISE = "organise/<int:number>"
_JUDGE = (judging.session, judging.consent, judging.about, judging.guidelines, judging.done)
urlpatterns: list[URLPattern | URLResolver] = [
    path("", judging.home, name="home"),
    path("join/<str:token>/", judging.join, name="join"),
    path("judge/", judging.work, name="work"),
    *(path(f"judge/{view.__name__}", view, name=view.__name__) for view in _JUDGE),
    path("judge/items/<int:number>/", judging.item, name="item"),
    path("judge/answers", judging.history, name="answers"),
    path("language", set_language, name="set_language"),
    path("words", JavaScriptCatalog.as_view(packages=["grammeter.campaign"]), name="jsi18n"),
    path("login", organise.Login.as_view(), name="login"),
    path("logout", LogoutView.as_view(next_page="login"), name="logout"),
    path("organise/", organise.campaigns, name="campaigns"),
    path(f"{_ORGANISE}/", organise.campaign, name="campaign"),
    path(f"{_ORGANISE}/progress", organise.campaign, {"page": "progress"}, name="progress"),
    path(f"{_ORGANISE}/results", organise.result_page, name="results"),
    path(f"{_ORGANISE}/judges", organise.judge_page, name="judges"),
    path(f"{_ORGANISE}/invite", organise.invite, name="invite"),
    path(f"{_ORGANISE}/judges/<int:judge>/again", organise.invite, name="again"),
    path(f"{_ORGANISE}/judges/<int:judge>/block", organise.change, {"act": "block"}, "block"),
    path(f"{_ORGANISE}/judges/<int:judge>/exclude", organise.change, {"act": "exclude"}, "exclude"),
    path(f"{_ORGANISE}/judges/<int:judge>/note", organise.change, {"act": "note"}, "note"),
    path(f"{_ORGANISE}/invites/<int:invite>/revoke", organise.change, {"act": "revoke"}, "revoke"),
    path(f"{_ORGANISE}/close", organise.close, {"closed": True}, name="close"),
    path(f"{_ORGANISE}/reopen", organise.close, {"closed": False}, name="reopen"),
    path(f"{_ORGANISE}/export/<str:form>", organise.export, name="export"),
    path(f"{_ORGANISE}/audit", organise.audit_page, name="audit"),
]
