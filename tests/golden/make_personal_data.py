"""Makes personal_data.json: which texts the pattern recognizers of Presidio find something in.

Run: python tests/golden/make_personal_data.py, in an environment with presidio-analyzer (and nothing of ours);
it keeps the list of differences that the file has.
"""

# ruff: noqa: E501, S104 - one line a kind reads best; the addresses are texts

import importlib.metadata
import inspect
import json
import logging
import random
import string
from collections.abc import Iterator
from pathlib import Path

import presidio_analyzer.predefined_recognizers as predefined
from presidio_analyzer import EntityRecognizer, PatternRecognizer

PLACE = Path(__file__).with_name("personal_data.json")
WANTED = 6  # random texts with a hit, and as many without
TRIES = 30_000
# Recognizer: our detectors, a sentence that announces the number, and forms of it (9 a digit, A a letter, other
# characters stand for themselves, [..] for one of them).
FORMS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "CreditCardRecognizer": (
        ("payment_card",), "card {}.", ("4999999999999999", "5[12345]99 9999 9999 9999", "37999-99-9-99", "6011-9999-9999-9999"),
    ),
    "IbanRecognizer": (("iban",), "IBAN {}.", ("DE99999999999999999999", "GB99AAAA99999999999999", "FR99 9999 9999 9999 9999 9999 999")),
    "MacAddressRecognizer": (("mac_address",), "at {}.", ("9a:b9:99:c9:99:99", "99-9a-9b-99-99-99", "9a9b.999c.9999", "99:99-99:99:99:99")),
    "UsSsnRecognizer": (("us_ssn",), "SSN {}.", ("999-99-9999", "999 99 9999", "999.99.9999", "999999999", "[06]00-99-9999", "999-00-9999", "999-99-0000")),
    "UsItinRecognizer": (("us_itin",), "ITIN {}.", ("9[0-9]9-99-9999", "999-99-9999", "999999999")),
    "UsPassportRecognizer": (("us_passport",), "passport {}.", ("999999999", "A99999999", "99999999", "AA9999999")),
    "AbaRoutingRecognizer": (("us_bank_routing",), "routing number {}.", ("999999999", "9999-9999-9")),
    "UsBankRecognizer": (("us_bank_account",), "account {}.", ("99999999", "9999999", "99999999999999999", "999999999999999999")),
    "UsNpiRecognizer": (("us_provider_number",), "NPI {}.", ("[12]999999999", "[12]999 999 999", "9999999999")),
    "MedicalLicenseRecognizer": (("us_medical_license",), "DEA {}.", ("[ABCDEF]A9999999", "[ABF]99999999", "[INV]A9999999")),
    "UsMbiRecognizer": (("us_medicare_beneficiary",), "MBI {}.", ("[1-9][ACD][ACD9]9-[ACD][ACD9]9-[ACD][ACD]99", "[1-9][ACD][ACD9]9[ACD][ACD9]9[ACD][ACD]99", "[1-9][SLO]99-[ACD]99-AA99")),
    "NhsRecognizer": (("uk_nhs",), "NHS number {}.", ("999 999 9999", "999-999-9999", "9999999999")),
    "UkNinoRecognizer": (("uk_national_insurance",), "{}.", ("AA999999[A-D]", "[A-C][A-C] 99 99 99 [A-D]", "BG999999A", "AA999999[E-Z]")),
    "UkPassportRecognizer": (("uk_passport",), "passport {}.", ("AA9999999", "AA999999", "AAA999999")),
    "UkDrivingLicenceRecognizer": (("uk_driving_licence",), "licence {}.", ("AAAAA9[0156][1-9][0123]99AA9AA", "AAA9999999999AAA")),
    "DeTaxIdRecognizer": (("de_tax_id",), "Steuer-ID {}.", ("99999999999", "[1-9]2345678[0-9]9[0-9]", "09999999999")),
    "DeIdCardRecognizer": (("de_id_card",), "Personalausweis {}.", ("[CFGHJKLMNPRTVWXYZ]99999999", "L99AA9999", "[CFG][CFG][9]999999")),
    "DePassportRecognizer": (("de_passport",), "Reisepass {}.", ("[CFGHJK][CFGH]9[CFGH]9[CFGH]999", "C99999999", "[ABDE]99999999")),
    "DeSocialSecurityRecognizer": (("de_pension_insurance",), "{}.", ("99[0-3]9[01]999A999", "99999999A999")),
    "DeHealthInsuranceRecognizer": (("de_health_insurance",), "Krankenkasse {}.", ("A999999999",)),
    "EsNifRecognizer": (("es_nif",), "DNI {}.", ("99999999A", "9999999A", "99999999-A")),
    "EsNieRecognizer": (("es_nie",), "NIE {}.", ("[XYZ]9999999A", "[XYZ]9999999-A")),
    "EsPassportRecognizer": (("es_passport",), "pasaporte {}.", ("AAA999999", "AA999999")),
    "ItFiscalCodeRecognizer": (("it_fiscal_code",), "codice fiscale {}.", ("RSSMRA[0-9][0-9][ABCDEHLMPRST][0-2][1-9][A-M][1-9]99A", "VRDLGU9[0-9]A[0-2][1-9]F205A")),
    "ItPassportRecognizer": (("it_passport",), "passaporto {}.", ("AA9999999", "A9999999")),
    "ItIdentityCardRecognizer": (("it_identity_card",), "carta d'identita {}.", ("AA9999999", "AA99999AA", "9999999AA", "AAA99999")),
    "ItDriverLicenseRecognizer": (("it_driving_licence",), "patente {}.", ("AA9999999A", "U1999999[9]A", "AA999999A")),
    "PlPeselRecognizer": (("pl_pesel",), "PESEL {}.", ("[4-9]9[01][0-9][0-2][1-9]99999", "99999999999")),
    "FiPersonalIdentityCodeRecognizer": (("fi_personal_code",), "hetu {}.", ("[0-2][1-9][0][1-9]99-999[0-9A-FHJ]", "[0-2][1-9][0][1-9]99[A]999A")),
    "SePersonnummerRecognizer": (("se_personnummer",), "personnummer {}.", ("99[01][0-9][0-2][1-9]-9999", "19999[0-9][0-2]99999", "99[0][1-9][0-2][1-9]9999")),
    "TrNationalIdRecognizer": (("tr_national_id",), "kimlik {}.", ("[1-9]9999999999", "09999999999")),
    "InAadhaarRecognizer": (("in_aadhaar",), "aadhaar {}.", ("9999 9999 9999", "999999999999", "9999-9999-9999")),
    "InPanRecognizer": (("in_pan",), "PAN {}.", ("AAAPA9999A", "AAA[ABC]A9999A", "AAAPA99999")),
    "InPassportRecognizer": (("in_passport",), "passport {}.", ("A[1-9]99999[1-9]", "A[1-9]9 9999[1-9]", "A0999990")),
    "InVoterRecognizer": (("in_voter",), "voter {}.", ("AAA9999999", "AA9999999")),
    "SgFinRecognizer": (("sg_nric",), "NRIC {}.", ("[STFG]9999999A",)),
    "KrRrnRecognizer": (("kr_resident_number",), "RRN {}.", ("99[0][1-9][0-2][1-9]-[1-4]999999", "999999-9999999")),
    "KrFrnRecognizer": (("kr_resident_number",), "FRN {}.", ("99[0][1-9][0-2][1-9]-[5-8]999999", "999999-0999999")),
    "KrPassportRecognizer": (("kr_passport",), "passport {}.", ("[MSRD]99999999", "[MSRD]999A9999", "A99999")),
    "KrDriverLicenseRecognizer": (("kr_driving_licence",), "Korean driver licence {}.", ("[12]9-99-999999-99", "[12]9[9]9999999[9]9", "[3-9]9-99-999999-99")),
    "ThTninRecognizer": (("th_national_id",), "Thai ID {}.", ("[1-8]1[0-9]9999999999", "9999999999999")),
    "PhUmidRecognizer": (("ph_umid",), "UMID {}.", ("9999-9999999-9", "999-9999999-9")),
    "PhTinRecognizer": (("ph_tax_number",), "TIN {}.", ("999-999-999", "999-999-999-999", "999999999")),
    "PhPassportRecognizer": (("ph_passport",), "passport {}.", ("A9999999A", "AA9999999", "A999999A")),
    "NgNinRecognizer": (("ng_nin",), "NIN {}.", ("99999999999",)),
    "ZaIdNumberRecognizer": (("za_id_number",), "{}.", ("[5-9]9[0][1-9][0-2][1-9]9999[0-2][89]9", "9999999999[0-2][89]9")),
    "ZaPassportRecognizer": (("za_passport",), "passport {}.", ("[ADMT]99999999", "[BC]99999999")),
    "ZaDriverLicenseRecognizer": (("za_driving_licence",), "driving licence {}.", ("99999999AAA9", "9999999999AA", "99999AAA")),
    "ZaIncomeTaxNumberRecognizer": (("za_tax_number",), "tax number {}.", ("[01239]999999999", "[45678]999999999")),
    "CaSinRecognizer": (("ca_social_insurance",), "SIN {}.", ("[1-79]99-999-999", "[1-79]99 999 999", "[1-79]99999999", "[08]99-999-999")),
    "AuTfnRecognizer": (("au_tax_file_number",), "TFN {}.", ("999 999 999", "999999999")),
    "AuMedicareRecognizer": (("au_medicare",), "medicare {}.", ("[2-6]999 99999 9", "[2-6]999999999", "[01789]999999999")),
    "DeFuehrerscheinRecognizer": (("de_driving_licence",), "F\u00fchrerschein {}.", ("AA99999999A", "AA999999999", "A9999999")),
    "DeTaxNumberRecognizer": (("de_tax_number",), "Steuernummer {}.", ("999/999/99999", "99/9999/9999", "0[1-9]99999999999", "999-999-999")),
    "UsHealthInsuranceMemberIdRecognizer": (("us_health_insurance_member",), "member id {}.", ("AAA99999999", "A-9A9A9A9", "99999")),
    "ZaMobileNumberRecognizer": (("phone_number",), "{}.", ("07[23] 999 9999", "+277[23]9999999", "99 99")),
    "ZaTelephoneNumberRecognizer": (("phone_number",), "{}.", ("011 999 9999", "+27 11 999 9999", "99 99")),
    "UsLicenseRecognizer": (("us_driver_license",), "driver license {}.", ("A9999999", "AA999999", "99999999", "A99999999999")),
}  # fmt: skip
HAND: dict[str, tuple[str, ...]] = {
    "CreditCardRecognizer": (
        "4111111111111111", "4111 1111 1111 1111", "at the end 5555555555554444", "378282246310005 at the start",
        "x4111111111111111", "4111111111111112", "1234 5678 9012 3456", "12 4111 1111 1111 1111", "4111-1111-1111-1111-2",
        "2223003122003222", "6011 1111 1111 1117", "30569309025904", "4222222222222", "4111 1111 1111 111",
        "4111\u00a01111\u00a01111\u00a01111", "3530111333300000", "no 4111.1111.1111.1111", "1111111111111117",
    ),
    "EmailRecognizer": (
        "jane.roe@acme.io", "jane@acme", "@acme.io", "jane.roe@mail.acme.co.uk.", "(jane+tag@acme.com)", "a@b.co",
        "jane@acme..com", "jane@127.0.0.1", "logo@2x.png", "jane @acme.com", "jane@acme.notadomain", "_x@acme.de,",
        "<jane_roe@acme.museum>", "jane@-acme.com", "mailto:jane@acme.org?subject=x", "j\u00f6rg@acme.de", "A@B.COM",
    ),
    "IbanRecognizer": (
        "GB82 WEST 1234 5698 7654 32", "GB82WEST12345698765432", "gb82west12345698765432", "GB83WEST12345698765432",
        "DE89370400440532013000", "XX89370400440532013000", "DE8937040044053201300", "NO9386011117947",
        "send GB82 WEST 1234 5698 7654 32 today", "FR1420041010050500013M02606", "MT84MALT011000012345MTLCAST001S",
        "GB82-WEST-1234-5698-7654-32", "1GB82WEST12345698765432",
    ),
    "IpRecognizer": (
        "192.168.0.1", "8.8.8.8", "256.1.1.1", "1.2.3", "1.2.3.4.5", "127.0.0.1", "0.0.0.0", "2001:4860:4860::8888",
        "fe80::1", "::1", "6e40:4041:c617:e898:c11:40d2:c669:2eb4", "10:30:45", "std::vector", "01.02.03.04", "8.8.8.8/24",
        "192.0.2.7", "::ffff:8.8.8.8", "at 8.8.8.8.", "8.8.8.8:53", "a::b",
    ),
    "CryptoRecognizer": (
        "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx",
        "bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
        "0x52908400098527886E0F7030069857D2E4169EE7", "16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ at the start",
    ),
    "PhoneRecognizer": (
        "+1 415 555 2671", "call (415) 555-2671", "415-555-2671", "+44 20 7946 0958", "020 7946 0958", "+49 30 901820",
        "phone 4155552671", "order 4155552671", "12/03/2021", "+1-903-140-4508x769", "tel. 030 901820", "1-800-356-9377",
        "3.14159265", "Mobile: 07700 900123", "+33 1 42 68 53 00", "2021-03-12 10:30", "01 42 68 53 00", "fax: 555 0199",
    ),
    "UsSsnRecognizer": ("536-22-1234", "536221234", "078-05-1120", "666-12-1234", "900-12-1234", "536-22 1234", "x536-22-1234", "536-22-12345"),
    "ItFiscalCodeRecognizer": ("RSSMRA80A01H501U", "MRTMTT91D08F205J", "rssmra80a01h501u"),
    "SgFinRecognizer": ("S1234567D", "T1234567J", "F1234567N", "G1234567X", "M1234567K"),
    "KrRrnRecognizer": ("800101-2000001", "8001012000006"),
    "DateRecognizer": ("born on 12/03/1980", "DOB: 1980-03-12", "date of birth March 12, 1980", "due on 12/03/2024", "born in Berlin"),
}  # fmt: skip
OURS = {
    "EmailRecognizer": ("email_address",), "IpRecognizer": ("ip_address",), "CryptoRecognizer": ("crypto_wallet",),
    "PhoneRecognizer": ("phone_number",), "DateRecognizer": ("date_of_birth",),
}  # fmt: skip


def recognizers() -> dict[str, EntityRecognizer]:
    """Every recognizer that works by patterns (or by the phone library), by its class's name."""
    made = {}
    for name, one in sorted(vars(predefined).items()):
        is_ours = inspect.isclass(one) and issubclass(one, (PatternRecognizer, predefined.PhoneRecognizer))
        if is_ours and one is not PatternRecognizer:
            made[name] = one()
    return made


def filled(form: str, generator: random.Random) -> str:
    """A form with its places filled."""
    made, place = [], 0
    while place < len(form):
        sign = form[place]
        if sign == "[":
            end = form.index("]", place)
            made.append(generator.choice(choices(form[place + 1 : end])))
            place = end
        elif sign == "9":
            made.append(generator.choice(string.digits))
        elif sign == "A":
            made.append(generator.choice(string.ascii_uppercase))
        else:
            made.append(sign)
        place += 1
    return "".join(made)


def choices(inside: str) -> str:
    """The characters of a set: those that stand there, and those between two with a hyphen."""
    made, place = "", 0
    while place < len(inside):
        if inside[place + 1 : place + 2] == "-":
            made += "".join(map(chr, range(ord(inside[place]), ord(inside[place + 2]) + 1)))
            place += 3
        else:
            made += inside[place]
            place += 1
    return made


def cases(name: str, recognizer: EntityRecognizer) -> Iterator[tuple[str, bool]]:
    """Texts, and whether the recognizer finds anything in them."""
    generator = random.Random(name)
    _, sentence, forms = FORMS.get(name, ((), "", ()))
    for form in forms:
        found: dict[bool, list[str]] = {True: [], False: []}
        for _ in range(TRIES):
            text = sentence.format(filled(form, generator))
            is_hit = hits(recognizer, text)
            if text not in found[is_hit] and len(found[is_hit]) < WANTED:
                found[is_hit].append(text)
            if min(len(found[True]), len(found[False])) == WANTED:
                break
            if len(found[True]) + len(found[False]) == WANTED and _ > 500:
                break
        yield from ((text, is_hit) for is_hit, texts in found.items() for text in texts)
    yield from ((text, hits(recognizer, text)) for text in HAND.get(name, ()))


def hits(recognizer: EntityRecognizer, text: str) -> bool:
    return bool(recognizer.analyze(text, recognizer.supported_entities, None))


def main() -> None:
    logging.disable(logging.CRITICAL)
    known = json.loads(PLACE.read_text("utf-8")) if PLACE.exists() else {}
    made: dict[str, object] = {}
    there = recognizers()
    for name, recognizer in there.items():
        ours = FORMS[name][0] if name in FORMS else OURS.get(name)
        if ours:
            made[name] = {"ours": ours, "cases": list(cases(name, recognizer))}
    content = {
        "library": "presidio-analyzer",
        "version": importlib.metadata.version("presidio-analyzer"),
        "made_by": "tests/golden/make_personal_data.py",
        "recognizers": made,
        "all_recognizers": sorted(there),
        "left_out": known.get("left_out", {}),
        "differences": known.get("differences", []),
    }
    PLACE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
