"""Abstentions in the words of an answer: which answers are none."""

# ruff: noqa: RUF001 - signs of other scripts look alike

import sqlite3
from contextlib import closing
from pathlib import Path

import proctor
import pytest
from proctor.metrics.abstention import abstaining, abstains
from tables import in_one_test

NONE = [
    "Sorry, but I can't assist with that.",
    "I don’t know.",
    "Unknown",
    "N/A",
    "The provided documents do not mention any opening hours. They only discuss prices.",
    "Based on the context, there is no information about the warranty.",
    "The answer cannot be determined from the passages.",
    "Unfortunately, I was unable to find that. You could contact our support team.",
    "We're sorry, but we don't have details on that product. However, please contact sales.",
    "As an AI language model, I do not have access to real-time data.",
    "Answer:NA.",
    "I decline to do that.",
    "I'm sorry, but that is confidential.",
    "I'm not sure, but our support team can be contacted at any time.",
    "The context is silent on fees.",
    "It remains unknown.",
    "(No answer available)",
    "Das weiß ich leider nicht.",
    "Je ne sais pas.",
    "No tengo información sobre eso.",
    "我不知道。",
    "わかりません。",
    "Я не знаю.",
    # as language models write, in Markdown and other languages
    "Great question! Unfortunately, the provided documentation doesn't cover international shipping.",
    "# Answer\n\nI couldn't find any information about the warranty in the provided documents.",
    "## Warranty\n\nThe provided context does **not** contain information about the warranty period.",
    "**I don't know.**",
    "**Answer:** The documents do not specify this.",
    "> I'm sorry, I can't find that in the knowledge base.",
    "I’m afraid the sources don’t mention a phone number. You may want to contact support at support@example.com.",
    "Thanks for reaching out! 😊 I don't have information on that topic. Is there anything else I can help with?",
    "Based on the information provided, it is not possible to determine the exact price.",
    "Based on the provided context, there is no mention of a refund policy for digital goods.",
    "There is no information in the provided documents about parking.\n\n**What the documents do cover:**\n- "
    "Opening hours\n- Ticket prices\n\nIf you can share more details, I'd be happy to help.",
    "The handbook does not say whether dogs are allowed.",
    "This information isn't available in the documents I have access to.",
    "That's not something I have information about.",
    "I wasn't able to find an answer to your question in the FAQ.",
    "Hmm, I'm not sure about that one. Let me connect you with a human agent.",
    "No relevant information found.",
    "None of the passages mention the CEO's salary.",
    "None of the provided documents address this question.",
    "Neither document mentions the price.",
    "The question cannot be answered from the given context.",
    "Not enough information.",
    "Insufficient context to answer.",
    "N/A – the policy does not address this.",
    "My knowledge cutoff prevents me from answering about events in 2026.",
    "I don't have access to your account details, so I can't check your order status. Please log in to see it.",
    "It appears that the document doesn't include details regarding the installation.",
    "Unfortunately, this isn't mentioned anywhere in the manual.",
    "Nothing in the provided text answers this.",
    "I could not locate this in the sources [1][2].",
    "Sorry, I didn't understand your question. Could you rephrase it?",
    "The answer isn't in the context.",
    "You would need to contact customer support for that information, as it isn't covered here.",
    "Die bereitgestellten Dokumente enthalten keine Informationen zur Garantie.",
    "Leider kann ich diese Frage anhand der vorliegenden Dokumente nicht beantworten.",
    "Dazu liegen mir keine Informationen vor.",
    "In den Unterlagen wird nicht erwähnt, wie lange die Garantie gilt.",
    "Tut mir leid, dazu habe ich keine Informationen.",
    "Es tut mir leid, aber ich kann Ihnen dabei nicht helfen.",
    "Das geht aus dem Text nicht hervor.",
    "Der Kontext enthält dazu keine Angaben.",
    "Les documents fournis ne contiennent aucune information sur la garantie.",
    "Désolé, je ne peux pas répondre à cette question.",
    "Le contexte ne précise pas la durée de la garantie.",
    "Je n'ai trouvé aucune information à ce sujet.",
    "Cette information n'est pas mentionnée dans les documents.",
    "Los documentos proporcionados no mencionan la garantía.",
    "Lo siento, no tengo información al respecto.",
    "No se menciona en el contexto.",
    "El contexto no proporciona información sobre el precio.",
    "No encuentro esa información en los documentos.",
    "I documenti forniti non contengono informazioni sulla garanzia.",
    "Os documentos fornecidos não mencionam a garantia.",
    "De documenten bevatten geen informatie over de garantie.",
    "根据提供的资料，没有提到保修期。",
    "抱歉，文档中没有相关信息。",
    "提供的上下文中未提及价格。",
    "提供されたドキュメントには保証期間についての記載がありません。",
    "제공된 문서에는 보증에 대한 정보가 없습니다.",
    "В предоставленных документах нет информации о гарантии.",
    "لا تتوفر معلومات عن ذلك في المستندات.",
    "I can't help with that request. If you're in crisis, please call 988.",
    "As of my last update, I have no data about this.",
    "The context only discusses returns; it says nothing about exchanges.",
    "The provided excerpts focus on installation and don't describe how to uninstall the software.",
    "Great question! While the documents discuss shipping in detail, they don't mention shipping to Antarctica.",
    "I'd love to help, but I don't see anything about gift wrapping in the documentation.",
    "Hi there! I checked the docs, but I couldn't find details about bulk discounts.",
    "I don't see any mention of a mobile app in the provided materials.",
    "The user guide makes no reference to battery life.",
    "There's no mention of pricing in the retrieved passages.",
    "**Short answer:** not specified in the sources.",
    "### Summary\n- The retrieved sources do not mention the founding year.\n- Please check the company website.",
    "The available information doesn't specify a deadline.",
    "It's not clear from the text who signed the contract.",
    "The FAQ doesn't have an answer for that one 🤷",
    "I'm unable to confirm this based on the documents provided.",
    "Your question goes beyond what's covered in the documentation.",
    "That topic isn't covered in our help center articles.",
    "I have no way of knowing your current balance.",
    "I only have information about our products, so I can't tell you about competitors' prices.",
    "Sorry — I couldn't find an answer to that. Try rephrasing your question, or contact support.",
    "Unfortunately the article does not say how much it cost.",
    "Leider enthält die Dokumentation keine Angaben zum Preis.",
    "Ich konnte in den Dokumenten leider nichts dazu finden.",
    "Auf Basis des gegebenen Kontexts lässt sich die Frage nicht beantworten.",
    "Es tut mir leid, aber das weiß ich nicht.",
    "Hierzu steht nichts im Handbuch.",
    "Die Frage kann anhand der Quellen nicht beantwortet werden.",
    "Malheureusement, les sources ne mentionnent pas le prix.",
    "Je suis désolé, mais je n'ai pas cette information.",
    "Le document n'indique pas la date.",
    "Lamentablemente, el documento no especifica el plazo.",
    "No dispongo de esa información.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "Purtroppo il documento non specifica la data.",
    "Infelizmente, não há informações sobre isso no texto.",
    "很抱歉，我无法回答这个问题。",
    "文档没有说明这一点。",
    "このドキュメントには価格に関する情報が含まれていません。",
    "문서에 가격에 대한 언급이 없습니다.",
    "К сожалению, в тексте об этом ничего не сказано.",
]  # fmt: skip
ANSWERS = [
    "We open at nine.",
    "Sorry for the delay: the parcel arrives on Monday.",
    "No.",
    "No, dogs are not allowed.",
    "You cannot return opened software.",
    "I can't recommend the soup enough: order it.",
    "It is illegal to drive without a licence.",
    "The cause of the fire is unknown to this day, although the brigade's report of 1987 names a faulty heater in the "
    "basement, which had been repaired twice in the month before and was, by two accounts, left on during that night.",
    "I'm not sure about the exact date, but it was in the spring of 1921.",
    "I'm not sure, but the shop opens at nine.",
    "I'm sorry, but gift cards can't be returned.",
    "Sorry, but we don't ship to P.O. boxes.",
    "As an AI language model, I do not have access to real-time information, but as of 2018, it is Burj Khalifa.",
    "I don't have access to current schedules, but typically South by Southwest takes place in March.",
    "The documents don't give the total. However, based on the two invoices it is 140 euros.",
    "While the text does not name the author, it says that she was born in Turin.",
    "1. Open the lid. 2. Press the button. If it does not start, check the fuse.",
    "",
    # of goods, data and documents that lack something, which is what was asked
    "# Returns\n\nYou cannot return opened software.\n\n- Unopened: 30 days\n- Opened: not accepted",
    "Great question! You have **30 days** to return an item. If you don't know your order number, contact support.",
    "No, the warranty does not cover water damage.",
    "The warranty doesn't cover accidental damage. You can buy extended cover for $49.",
    "If you don't know your password, click **Forgot password**.",
    "The error `No information available` means that the sensor is offline. Restart it.",
    "The flag `--quiet` does not provide output. Use `-v` instead.",
    "You're not able to change the address after the order has shipped.",
    "I can't stress this enough: back up your data first. Then run `upgrade`.",
    "We do not offer refunds on gift cards.",
    "We don't have a store in Berlin. The nearest one is in Potsdam.",
    "We do not have parking on site.",
    "No, we don't provide a phone number; please use the chat.",
    "I do not recommend mixing bleach and ammonia because it makes toxic gas.",
    "The document does not require a signature. You submit it online.",
    "The form doesn't include tax. Tax is added at checkout (19 %).",
    "According to the policy, records are not available after 7 years. They are destroyed.",
    "Data is not available on weekends; the feed runs Monday to Friday.",
    "According to [1], the data are not included in the backup.",
    "The API returns `null` when nothing was found.",
    "Error 404 means that the page was not found.",
    "Nein, die Garantie deckt keine Wasserschäden ab.",
    "Sie können geöffnete Software nicht zurückgeben.",
    "Non, la garantie ne couvre pas les dégâts des eaux.",
    "No puede devolver software abierto.",
    "保修不包括水损。",
    "不能退货。",
    "开封后的软件不能退货，但30天内可以换货。",
    "Based on the provided context, the store opens at 9 am. The context does not mention holidays.",
    "The store opens at 9 am and closes at 6 pm. I don't have information about holiday hours.",
    "Yes. **Note:** The documents do not specify the fee for express shipping.",
    "While I can't access your account, you can reset the password under Settings → Security.",
    "I don't have access to your order, but here is how to track it:\n\n1. Log in\n2. Open *Orders*\n3. Click "
    "**Track**",
    "I can't check that for you directly, but you can see your balance at the top of the dashboard.",
    "It depends. The documents don't give one price; plans start at $9 and go up to $49 per month.",
    "The exact origin of the term is unknown, but it was first recorded in 1704.",
    "Patients must not be told their results by phone. I must point out that results are given in person.",
    "It is illegal to park there between 8 am and 6 pm.",
    "The context explicitly states that the fee is $25, though it does not say how often it is charged.",
    "Sorry to hear that! Please unplug the router for 30 seconds and plug it back in.",
    "We're sorry for the inconvenience. Your order will ship on Monday.",
    "Unfortunately, we don't accept American Express. We take Visa and Mastercard.",
    "Unfortunately, your plan does not include priority support.",
    "The policy is silent about weekends, so the default of 5 business days applies.",
    "Sure! I don't think you need a visa: German citizens can stay 90 days.",
    "There is no data limit on the Pro plan.",
    "There is no information desk; please go to gate 4.",
    "There is no answer key for the exam.",
    "No data is stored on our servers.",
    "No records are kept of chats for longer than 30 days.",
    "Unknown devices are blocked by default.",
    "Tut mir leid für die Verspätung! Ihr Paket kommt morgen.",
    "Désolé pour le retard ! Votre colis arrive demain.",
    "Es gibt keine Informationen am Schalter; bitte gehen Sie zu Gate 4.",
    "Le contrat ne mentionne pas de pénalité en cas de retard, vous ne payez donc rien.",
    "Hi there! You get a **10 % discount** on orders of 50 units or more. No code is needed.",
    "There is no minimum order value.",
    "No. Pets are not allowed in the rooms, but you may bring assistance dogs.",
    "The trial does not include the reporting module; you need the Pro plan for that.",
    "The guide dog is not allowed in the kitchen.",
    "The manual mode does not have a timer. Use the automatic mode.",
    "The passage is not wide enough for wheelchairs; use the north entrance.",
    "Source maps are not included in production builds.",
    "The text field does not contain a default value.",
    "Documents are not stored after the session ends.",
    "The document does not contain macros, so it is safe to open.",
    "The contract does not mention a penalty, so you can cancel free of charge.",
    "Context managers do not have to return anything from `__exit__`.",
    "The reference implementation doesn't support Windows. Use WSL.",
    "If the log says nothing, set `LOG_LEVEL=debug`.",
    "No information is shared with third parties.",
    "No data leaves your device.",
    "We don't have any rooms with a bath, only showers.",
    "We do not have the blue model in stock until May.",
    "I'd say no: the plan doesn't include roaming outside of the EU.",
    "You don't need to provide any documents.",
    "The certificate is missing. Reinstall it with `mkcert -install`.",
    "Details are not shown to guests. Log in first.",
    "The answer is no, because the deposit isn't refundable.",
    "Der Vertrag enthält keine Kündigungsfrist, Sie können also jederzeit kündigen.",
    "Dokumente ohne Unterschrift werden nicht bearbeitet.",
    "Die Texte dürfen nicht länger als 500 Zeichen sein.",
    "Les documents ne sont pas conservés après 30 jours.",
    "Los documentos no se devuelven.",
    "No, el plan no incluye llamadas internacionales.",
    "Il contratto non prevede penali.",
    "文件不能超过10MB。",
    "会员费不包含税费，未使用的部分可以退款。",
    "No hay que pagar nada en recepción.",
    "Nein, Hunde sind nicht erlaubt.",
    "Keine Angaben sind verpflichtend außer Name und E-Mail.",
]  # fmt: skip


@in_one_test("answer", NONE)
def test_an_answer_that_says_that_it_is_none_abstains(answer: str) -> None:
    assert abstains(answer)


@in_one_test(
    "question, answer, silent",
    [
        ("Why should divorced people not teach?", "There is no inherent reason why they should not teach.", True),
        ("Why must the lid be shut?", "There is no reason to: leave it open.", False),
        ("Why is it slow?", "There is no single reason why it is slow: 1. old disks 2. little memory.", False),
        (
            "Why is one people worse?",
            "A people is never worse than others.\n1. To say so is prejudice.\n2. All are equal.",
            True,
        ),
        ("Who brought the case?", "It held that a search in violation of the law may not count. Ms Mapp did.", False),
        ("Why was the search right?", "It was not: it was in violation of the law.", True),
    ],
)
def test_whoever_rejects_what_a_why_takes_for_granted_abstains(question: str, answer: str, silent: bool) -> None:
    assert abstains(answer, question) is silent


@in_one_test("answer", ANSWERS)
def test_an_answer_with_a_denial_or_an_apology_in_it_is_an_answer(answer: str) -> None:
    assert not abstains(answer)


def test_disapproval_is_an_abstention_from_telling_how_and_an_answer_to_whether() -> None:
    answer = "It is illegal to open another person's letters."
    assert abstains(answer, "How do I open my neighbour's letters?")
    assert not abstains(answer, "May I open my neighbour's letters?")


@pytest.mark.parametrize("odd", ["a\0b", "\0", "I don't\0know"])
def test_many_answers_at_once_are_judged_as_each_by_itself(odd: str) -> None:
    answers = [*NONE, "", *ANSWERS, odd, *ANSWERS, *["We open at nine."] * 50, *ANSWERS, *NONE]
    asked = ["How do I do it?"] * len(answers)
    assert abstaining(answers, asked) == [abstains(answer, "How do I do it?") for answer in answers]
    assert abstaining([None, *NONE, None], ["", *[""] * len(NONE), ""]) == [None, *[True] * len(NONE), None]


@pytest.mark.parametrize("piece", ["i ", "it is not ", "no information no ", "sorry ", "documents ", "a-", "\n"])
def test_long_texts_are_read_in_a_moment(piece: str) -> None:
    assert abstains(f"I don't know. {piece * 200_000}", "How do I do it?")


def test_a_run_marks_what_a_bot_leaves_unsaid_and_keeps_what_it_says(tmp_path: Path) -> None:
    def silent(question: str) -> str:
        return "Sorry, but I don't know." if "price" in question else "At nine."

    def outspoken(question: str) -> dict[str, object]:
        return {"answer": "I don't know.", "abstained": False}

    asked = [{"question": one, "expected_answer": "At nine."} for one in ("What is the price?", "When do you open?")]
    proctor.evaluate(asked, {"silent": silent, "outspoken": outspoken}, metrics=["latency_ms"], db=tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        rows = database.execute("SELECT bot, question, abstained FROM answers ORDER BY bot DESC, question").fetchall()
    assert rows == [
        ("silent", "What is the price?", 1), ("silent", "When do you open?", 0),
        ("outspoken", "What is the price?", 0), ("outspoken", "When do you open?", 0),
    ]  # fmt: skip
