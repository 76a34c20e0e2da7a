"""What the published schemas say of the parts of SARIF 2.1.0 and of JUnit's XML that are written, and a check by it.

SARIF: OASIS, sarif-schema-2.1.0.json, where no object has properties but its own. JUnit: junit-10.xsd of Jenkins'
plugin xUnit. Each object or element has its properties or attributes; those that are required end in "!".
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

__all__ = ["faults_of_junit", "faults_of_sarif"]

_SARIF: dict[str, str] = {
    "log": "$schema version! runs! inlineExternalProperties properties",
    "run": "tool! invocations conversion language versionControlProvenance originalUriBaseIds artifacts"
    " logicalLocations graphs results automationDetails runAggregates baselineGuid redactionTokens defaultEncoding"
    " defaultSourceLanguage newlineSequences columnKind externalPropertyFileReferences threadFlowLocations taxonomies"
    " addresses translations policies webRequests webResponses specialLocations properties",
    "tool": "driver! extensions properties",
    "driver": "guid name! organization product productSuite shortDescription fullDescription fullName version"
    " semanticVersion dottedQuadFileVersion releaseDateUtc downloadUri informationUri globalMessageStrings"
    " notifications rules taxa locations language contents isComprehensive localizedDataSemanticVersion"
    " minimumRequiredLocalizedDataSemanticVersion associatedComponent translationMetadata supportedTaxonomies"
    " properties",
    "rules": "id! deprecatedIds guid deprecatedGuids name deprecatedNames shortDescription fullDescription"
    " messageStrings defaultConfiguration helpUri help relationships properties",
    "shortDescription": "text! markdown properties",
    "results": "ruleId ruleIndex rule kind level message! analysisTarget locations guid correlationGuid occurrenceCount"
    " partialFingerprints fingerprints stacks codeFlows graphs graphTraversals relatedLocations suppressions"
    " baselineState rank attachments hostedViewerUri workItemUris provenance fixes taxa webRequest webResponse"
    " properties",
    "message": "text markdown id arguments properties",
    "locations": "id physicalLocation logicalLocations message annotations relationships properties",
    "physicalLocation": "address artifactLocation region contextRegion properties",
    "artifactLocation": "uri uriBaseId index description properties",
}
_NAMES = {"runs": "run"}  # of properties whose objects are called otherwise
_VALUES: dict[str, Any] = {
    "version": str,
    "$schema": lambda value: bool(urlsplit(value).scheme),
    "columnKind": ("utf16CodeUnits", "unicodeCodePoints"),
    "level": ("none", "note", "warning", "error"),
    "ruleIndex": lambda value: isinstance(value, int) and value >= -1,
    "uri": lambda value: re.fullmatch(r"[\w.~!$&'()*+,;=:@/?#\[\]%-]*", value) is not None,
}
_LISTS = ("runs", "rules", "results", "locations")

_JUNIT = {
    "testsuites": ("name time tests failures errors", {"testsuite"}),
    "testsuite": (
        "name! tests! failures! errors! group time skipped timestamp hostname id package file log url",
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        "name! time classname group",
        {"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError", "system-out"}
        | {"system-err"},
    ),
    "failure": ("type message", set()),
    "error": ("type message", set()),
    "system-out": ("", set()),
}
_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def faults_of_sarif(value: Any, what: str = "log", place: str = "log") -> list[str]:
    """Where an object breaks the rules; none if it keeps them."""
    known = _SARIF[what].split()
    found = [f"{place} has no {key[:-1]}" for key in known if key.endswith("!") and key[:-1] not in value]
    found += [f"{place} has {key}" for key in value if key not in {each.rstrip("!") for each in known}]
    for key, held in value.items():
        each = f"{place}.{key}"
        if key in _LISTS:
            found += [] if isinstance(held, list) else [f"{each} is no list"]
            for i, one in enumerate(held):
                found += faults_of_sarif(one, _NAMES.get(key, key), f"{each}[{i}]")
        elif key in _SARIF:
            found += faults_of_sarif(held, key, each)
        elif not (good := _VALUES.get(key, str)) or not _fits(held, good):
            found.append(f"{each} is {held!r}")
    if what == "log" and value.get("version") != "2.1.0":
        found.append(f"{place}.version is not 2.1.0")
    if what == "message" and not {"text", "id"} & value.keys():
        found.append(f"{place} has neither text nor id")
    return found


def _fits(value: Any, good: Any) -> bool:
    if isinstance(good, tuple):
        return value in good
    return isinstance(value, str) if good is str else bool(good(value))


def faults_of_junit(element: Element) -> list[str]:
    """Where an element breaks the rules, or one in it; none if they keep them."""
    if element.tag not in _JUNIT:
        return [f"there is no {element.tag}"]
    attributes, inside = _JUNIT[element.tag]
    known = attributes.split()
    found = [
        f"{element.tag} has no {key[:-1]}" for key in known if key.endswith("!") and key[:-1] not in element.attrib
    ]
    found += [f"{element.tag} has {key}" for key in element.attrib if key not in {each.rstrip("!") for each in known}]
    if element.tag != "testcase" and not _TIME.fullmatch(element.get("time", "")):
        found.append(f"the time of {element.tag} is {element.get('time')!r}")
    for one in element:
        found += [] if one.tag in inside else [f"{one.tag} in {element.tag}"]
        found += faults_of_junit(one)
    return found
