"""Login and logout of organisers, with a delay after failed attempts."""

from __future__ import annotations

from math import ceil

from django.contrib import auth
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from grammeter.campaign.services import audit, throttle
from grammeter.campaign.views.gate import allowed

COMMAND = "grammeter campaign organiser NAME"
_LONGEST_NAME, _LONGEST_PASSWORD = 150, 1000


@sensitive_post_parameters("password")
@allowed("GET", "POST")
def login(request: HttpRequest) -> HttpResponse:
    """Ask for name and password."""
    onwards = _onwards(request)
    if request.method == "POST":
        return _attempt(request, onwards)
    if request.user.is_authenticated:
        return HttpResponseRedirect(onwards)
    return _form(request, onwards)


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    """End the session of an organiser."""
    if request.user.is_authenticated:
        audit.log(None, request.user.get_username(), "logout")
    auth.logout(request)
    return redirect("login")


def _attempt(request: HttpRequest, onwards: str) -> HttpResponse:
    name = request.POST.get("username", "")[:_LONGEST_NAME]
    password = request.POST.get("password", "")[:_LONGEST_PASSWORD]
    tries = throttle.attempts("login", name, request.META.get("REMOTE_ADDR", ""))
    pause = max(throttle.wait(*who, free=free) for who, free in tries.items())
    if pause > 0:
        fault = f"Too many attempts. Please wait {ceil(pause)} seconds."
        answer = _form(request, onwards, fault=fault, status=429)
        answer["Retry-After"] = str(ceil(pause))
        return answer
    user = auth.authenticate(request, username=name, password=password)
    if user is None:
        for who in tries:
            throttle.failed(*who)
        return _form(request, onwards, fault="Name and password do not fit.", status=403)
    throttle.succeeded(*next(iter(tries)))
    auth.login(request, user)
    audit.log(None, user.get_username(), "login")
    return HttpResponseRedirect(onwards)


def _onwards(request: HttpRequest) -> str:
    """Return the address after the login, on this server only."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    secure, host = request.is_secure(), {request.get_host()}
    good = url_has_allowed_host_and_scheme(wanted, allowed_hosts=host, require_https=secure)
    return wanted if good else redirect("campaigns")["Location"]


def _form(
    request: HttpRequest, onwards: str, *, fault: str = "", status: int = 200
) -> HttpResponse:
    name = request.POST.get("username", "")[:_LONGEST_NAME]
    shown = {"next": onwards, "fault": fault, "username": name, "command": COMMAND}
    return render(request, "campaign/organise/login.html", shown, status=status)
