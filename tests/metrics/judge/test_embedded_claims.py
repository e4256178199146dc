"""What the embedded judge takes for a claim: what support bots say around it is none."""

from typing import Final

from proctor.metrics.judge.embedded.claims import claims_of

AROUND: Final = "The lid is made of steel."

COURTESIES: Final = """
Hi there!
Hello Anna,
Dear Ms Okafor,
Dear customer,
Good morning and welcome!
Greetings!
Welcome to the Harbour Bike Shop!
Welcome aboard!
Great choice!
Excellent question!
What a lovely idea!
That's a really good question.
That's an excellent point!
This is a great thing to ask.
Nice pick!
Smart move!
Well done!
Good thinking!
Good news!
Thanks for reaching out.
Thanks so much for your patience!
Thank you for contacting us.
Thank you very much for choosing our shop.
Many thanks for your message.
Thank you for bringing this to our attention.
Thanks for your understanding.
Thanks in advance!
We really appreciate your feedback.
I appreciate you asking.
We value your loyalty.
Much appreciated!
I'm sorry to hear that.
I'm so sorry about the trouble.
We are sorry for the delay in getting back to you.
I apologize for the inconvenience.
We sincerely apologise for any inconvenience this may have caused.
Apologies for the confusion!
My apologies for the long wait.
Please accept our apologies.
Sorry for keeping you waiting.
Sorry about that!
I understand how frustrating this must be.
I completely understand your frustration.
I totally get it.
That must be annoying.
I can imagine that this is stressful.
I'd be happy to help with that!
I'd be glad to help you with your order.
I'm happy to help!
Happy to help.
We would be delighted to assist you.
I would love to help you find the right bike.
I can certainly help you with that.
Sure, I can help with that!
I'm here to help.
We're always here for you.
I'm here if you need anything else.
Our team is happy to help you any time.
Let me explain.
Let me walk you through the steps.
Let me break this down for you.
Let me have a look at that for you.
Let's go through it together.
Let's get started!
Allow me to explain.
Here you go!
Here we go!
Here's how it works:
Here is a quick overview.
Here are the steps you need to follow.
Here's what you need to know.
Here is the information you asked for.
Please see the details below.
Please note the following:
In short:
To answer your question:
Please let me know if you need more details.
Let us know if you have any other questions!
Feel free to reach out.
Don't hesitate to get in touch with us.
Just ask if anything is unclear.
Just reply to this message if you need further help.
If you need anything else, just let me know.
If there is anything else I can do for you, please tell me.
Should you have any further questions, we are happy to help.
Reach out to us any time if you have more questions.
If anything is unclear, simply ask.
I hope this helps!
Hope that helps! 😊
Hope this answers your question.
I hope you feel better soon!
I hope that clears things up.
We hope to see you again soon.
We look forward to hearing from you.
Looking forward to your visit!
I wish you a pleasant stay.
Wishing you all the best.
Wishing you a speedy recovery!
Enjoy!
Enjoy your ride!
Enjoy the rest of your day.
Have fun!
Have a safe trip!
Have a wonderful weekend.
Get well soon!
Good luck with your exam!
Congratulations on your new home!
Congrats!
Bon appétit!
Cheers!
Happy baking!
Happy holidays to you and your family!
Safe travels!
Take care!
Stay safe and healthy!
All the best,
Best,
Best wishes from all of us!
Warm regards,
Kind regards, your support team
Yours sincerely,
Best regards, The Support Team
Cordially yours,
Talk to you soon!
See you soon!
My pleasure!
It's my pleasure.
You're very welcome!
No problem!
No problem at all.
No worries!
Don't worry!
Not a problem.
Sure thing!
You got it!
Got it!
Understood.
Of course!
By all means!
Sounds good!
That makes sense.
Fair enough.
Absolutely, I'm on it!
Glad you asked!
Great to hear from you!
It's great to have you here.
Nice to meet you!
One moment, please.
Please bear with me.
Just a second while I look that up.
Absolutely, happy to assist!
Hey, thanks for stopping by!
Good evening, Mr. Lee!
Hello and thank you for writing to us.
Welcome back!
Thanks a bunch!
Thx!
Thank you kindly.
Thanks for being a loyal customer.
Thanks for letting us know about the broken link.
We're grateful for your support.
Your feedback means a lot to us.
Your satisfaction is important to us.
We're sorry you've had this experience.
I'm terribly sorry for the mix-up.
Sorry to hear about your lost parcel!
Oh no, that sounds frustrating!
I can see why you're upset.
I hear you.
That's totally understandable.
I know how important this is to you.
Of course, I can help you with that.
I'd love to help!
I'll gladly assist you.
I can definitely help you out with this.
I'll do my best to help you.
I'll be happy to walk you through it.
Let me help you with your request.
Let's take a look.
Let's dive in!
Let's sort this out.
Let me know how it goes!
Here's a step-by-step guide:
Here are a few tips:
Here is a short summary of the main points.
Here's the answer to your question:
Below you'll find the details.
You can find more information below.
Please find the steps below.
Follow these steps:
Good to know:
The short answer:
Quick answer:
To summarize:
Do let me know if that works for you.
Please don't hesitate to ask.
If you have more questions, feel free to ask!
If you need further assistance, please contact our support team.
If you run into trouble, just give us a shout.
If you'd like more details, let me know.
For further questions, just get in touch.
Any other questions?
I'm always happy to answer more questions.
We're happy to help.
I'm just a message away.
Hopefully this helps!
I trust this answers your question.
I hope this information is helpful.
Hope you enjoy your stay!
Hope to see you soon!
Have a good one!
Have a nice day ahead!
Have a great rest of your week!
Enjoy your meal!
Enjoy your new headphones!
Happy travels!
Happy gardening!
Happy shopping!
All the best with your recovery.
Best of luck!
Fingers crossed!
Wishing you a wonderful holiday season.
Rest up and feel better!
Stay well.
Be well!
Drive safely!
Sleep tight!
Until next time!
Catch you later!
Have a safe flight home!
Congratulations, that's wonderful news!
Well done on finishing the course!
That's awesome!
How exciting!
How wonderful!
What a great question!
Love that idea!
Interesting question!
Good call!
Excellent choice, Anna!
You've come to the right place!
You're in good hands.
No trouble at all!
It's no trouble.
No need to apologize.
Anytime!
Roger that!
Okay, got it.
Alright, let's see.
Right away!
Coming right up!
Very well.
With kind regards,
Sincerely,
Thanks again!
Thank you again for your business.
Take care of yourself.
Talk soon!
Yours truly,
Warmly,
Please give me a moment.
Hang tight!
Let me check that for you.
I'm looking into this right now.
Thank you for holding.
Thanks for waiting!
I'll connect you with a colleague.
Let me transfer you to an agent.
I've got you covered.
Rest assured, we've got you covered.
"""

CLAIMS: Final = """
No problem was found.
No problems are known with this model.
The best is the Pro tariff.
Best before means that it is still safe afterwards.
Best seats are in row five.
Enjoy 3 months free.
Enjoy free shipping on all orders.
Enjoy unlimited data with the Max plan.
Thank-you cards cost €2.
Thank-you notes are sent after the donation.
Thanks to the new motor, it needs less power.
Thanks to insulation, the house stays warm.
I'm happy to confirm that refunds take five days.
I'm glad to say that your order has shipped.
We are pleased to announce that the shop is open again.
We are happy to refund the full price.
Hope is a town in Wales.
Hope Street is closed.
Hope Valley lies in the Peak District.
Welcome drinks are free.
The welcome pack has a map.
New members are welcome.
Dogs are welcome in the garden.
Good Friday is a holiday.
Good morning is said until noon.
Great Britain is an island.
Great Dane puppies eat four times a day.
Excellent is the top grade.
The question has two parts.
A good question has one answer.
Happy hour starts at five.
Happy customers get a discount.
Happy is a film by Roko Belic.
Safe deposit boxes cost extra.
The safe is in the cellar.
It is safe to drink.
It's free.
It's cold in Oslo.
That is wrong.
This is the cheaper one.
This is a paid feature.
Congratulation cards are on the first floor.
Cheers is a sitcom.
Luck plays no part in it.
Sorry is the last song on the album.
The apology was printed on page two.
Apologies are printed on Monday.
We apologised for the error in March.
The company regretted the delay.
The delay was caused by snow.
The inconvenience fee is two euros.
We regret that the museum is closed.
Sorry, the museum is closed.
I'm sorry, but gift cards can't be returned.
Thank you, your order has shipped.
Thanks for waiting: the train leaves at nine.
Thank you for your order, which ships on Monday.
We appreciate cash.
Appreciation of the house was five percent.
Help is free.
Help costs nothing.
The help desk closes at six.
We help with moving for a fee of 30 euros.
We can help you with tax returns for 40 euros.
Our team repairs bikes.
Our team has twelve people.
The support team works in shifts.
The support team answers within two hours.
Your team has four seats.
Your team needs a licence.
Let the dough rest.
Let it cool for an hour.
Let the battery charge overnight.
Here the speed limit is 30.
Here is Berlin's oldest bridge.
Here you need a visa.
Please note that the lift is broken.
Please bring your passport.
Please see a doctor.
Please contact the embassy.
Please contact your bank to block the card.
Please hold the button for five seconds.
Let your landlord know in writing.
Ask your doctor first.
Just add water.
Just press the red button.
If you need a visa, apply at the embassy.
If anything is missing, write to returns@example.com.
If you have a ticket, use gate 4.
Should you lose the key, a new one costs 10 euros.
Feel free to bring your dog, as pets are allowed.
Get a receipt.
Get the blue ticket.
Have your passport ready.
Have a valid ticket.
Have the code at hand.
Take care not to scratch the lens.
Take the second exit.
Take it with food.
Stay on the line.
Stay below 40 degrees.
Keep it dry.
See the manual for the code.
See page nine.
Talk to your doctor.
Wish lists can be shared.
The wish list holds 100 items.
Regards is spelled with an s.
Yours is the third locker.
Sure is a brand of deodorant.
Of course fees apply.
Of course, the fee is ten euros.
Absolutely no pets.
Certainly not before May.
No worries about customs: duties are included.
No refunds!
No entry!
Full refund!
Free parking!
Breakfast included!
Closed on Sundays!
Out of stock.
Only in winter.
Two weeks!
Jupiter!
At nine!
Blue.
In Berlin!
The red one!
Absolute zero is the lowest temperature.
Pleasure boats need a licence.
My Pleasure is a song.
The moment of inertia doubles.
One moment of contact is enough.
A second coat dries faster.
The following items are banned.
The steps are wet.
The overview has three pages.
We look forward by one year in the forecast.
We hope to open a second shop in May.
I hope so because the lease ends.
You can reach us by phone.
You can ask for a refund.
You need a visa.
You got it from your employer.
We have received the parcel.
We open at nine.
We value the house at two million.
The customer is dear to us.
Dear is another word for expensive.
Dear items are kept in a safe.
Trust funds are taxed.
Nice is a city in France.
Nice has an airport.
Well water is tested twice a year.
A well-done steak takes ten minutes.
Smart meters send data daily.
Smart TVs need Wi-Fi.
Sound travels faster in water.
Fair trade coffee costs more.
Perfect pitch is rare.
No problem areas remain on the roof.
Problems with login are fixed.
No rush orders on weekends.
Happy Meal toys change monthly.
Safe mode starts without plug-ins.
Good grades matter.
Great Western runs the trains.
Nice trains run hourly.
Great food is served all day.
Welcome bonus: 20 euros.
The welcome desk is on the left.
Thanks to your feedback the app is faster.
Thank-you gifts are taxed.
We thank donors in the report.
Hello Kitty is from Japan.
Hello World is the first program.
Hey Jude is by the Beatles.
Dear John is a film.
Goodbye Lenin is set in Berlin.
Sorry is a board game.
We are sorry, the pool is closed.
We apologize because the law requires it.
Excuse forms are at the desk.
Pardon letters are signed by the president.
I'm happy to report that the leak is gone.
We'd love to hire you.
I can help only on weekdays.
We help with visas.
The team is on site until six.
Our staff speak German.
We are here until six.
We're on the second floor.
Let the tea steep.
Let your guests in by the side door.
Let go of the lever.
Here lies the king.
Here are the opening hours: nine to five.
Here is the red line.
Below the deck is the engine.
Find the serial number on the back.
See the sticker on the back.
Follow the signs to gate four.
Follow the blue line.
Contact the seller.
Contact us within ten days.
Ask at the desk.
Call the landlord.
If you need help, press the red button.
If the light blinks, restart it.
If you have questions about tax, see a tax adviser.
Hope Bay is in Antarctica.
Hope is lost.
We hope prices fall.
Wish you were here is an album.
Have the engine checked.
Have a doctor look at it.
Have two copies ready.
Enjoy is the slogan.
Enjoy half price on Mondays.
Get the app.
Get a new filter.
Stay in the car.
Stay out of the sun.
Take your passport.
Take the bus.
Take care when lifting the lid.
Keep the receipt.
Keep it in the fridge.
Keep out of reach of children.
Be careful with the blade.
Drive on the left.
Travel light.
Luck is random.
Congratulations was a hit in 1968.
Cheers means thanks in Britain.
Best is spelled with b.
The best time is spring.
Regards are not enough.
Great for beginners!
Perfect for small rooms.
Excellent sound quality.
Good battery life!
Nice and warm.
Cool and dry.
It's safe!
It's fine.
This is important.
That is a common mistake.
It's a good battery.
It's a nice town.
This is the right choice.
It is a popular song.
Sounds are muted.
Makes no sense to cut the cable.
You need luck.
You are covered.
You are on the list.
You're eligible.
Anytime tickets cost more.
Any time after noon is fine.
Not for children.
No pets!
No sugar.
No stress test is needed.
One moment lasts forever.
A moment of silence follows.
A second opinion is free.
Hold the button.
Hold on to the rail.
Wait for the green light.
Please wait behind the line.
Please hold the lift.
Please sign here.
Please be on time.
Sincerely is a song.
Warmly dressed guests may sit outside.
Trust is a bank.
Trust the process.
Fingers may swell.
Roger was the king.
Right of way is on the left.
Coming events are listed online.
"""


def _claimed(table: str) -> list[bool]:
    """Of each sentence of a table, whether it is a claim, behind one that is."""
    return [claims_of(f"{AROUND}\n{line}") != (AROUND,) for line in table.strip().splitlines()]


def test_what_is_said_for_politeness_sake_is_no_claim() -> None:
    claimed = _claimed(COURTESIES)
    assert len(claimed) >= 120
    assert claimed.count(False) >= 0.98 * len(claimed)


def test_what_starts_like_a_courtesy_and_says_something_is_a_claim() -> None:
    claimed = _claimed(CLAIMS)
    assert len(claimed) >= 120
    assert claimed.count(True) >= 0.96 * len(claimed)


def test_who_signs_is_no_claim_and_what_follows_a_signature_is() -> None:
    assert claims_of("It opens at nine.\n\nKind regards,\nAnna Okafor\nHarbour Bike Shop") == ("It opens at nine.",)
    assert claims_of("Best,\nThe Support Team\n\nPS: It opens at nine.") == ("PS: It opens at nine.",)
    assert claims_of("The support team") == ("The support team",)


def test_the_courtesy_that_leads_a_claim_is_no_part_of_it() -> None:
    assert claims_of("I'm happy to confirm that refunds take five days.") == ("refunds take five days.",)
    assert claims_of("Hi Anna, the shop opens at nine.") == ("the shop opens at nine.",)
    assert claims_of("Great question - the shop opens at nine.") == ("the shop opens at nine.",)


def test_a_courtesy_with_a_figure_says_something_unless_it_is_of_what_happened() -> None:
    assert claims_of("Enjoy 3 months free!") == ("Enjoy 3 months free!",)
    assert claims_of("Sorry about the delay of 3 days.") == ()


def test_long_sentences_are_read_in_a_moment() -> None:
    for piece in ("thank you so ", "i am so very ", "if you ", "happy to help and ", "a good good "):
        assert claims_of(f"{piece * 2_000}.")
    for piece in ("I can ", "we do ", "we will be very "):  # a loop within the length that is looked at
        assert claims_of(f"{piece * 12}.")
