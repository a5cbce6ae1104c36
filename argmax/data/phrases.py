"""What customers of an imaginary shop write, by the team that should answer."""

from __future__ import annotations

__all__ = [
    "CHANNELS",
    "CLOSINGS",
    "FILLERS",
    "HOURS",
    "OPENINGS",
    "PROBLEMS",
    "SHARES",
    "TIERS",
    "VAGUE",
]

SHARES = {
    "shipping": 27,
    "billing": 22,
    "technical": 18,
    "returns": 13,
    "accounts": 9,
    "sales": 7,
    "privacy": 4,
}
"""Tickets of each team, in a hundred."""

PROBLEMS = {
    "shipping": (
        "my [order|parcel] {order} has not arrived yet, it should have been here {days} days ago",
        "the tracking page for {order} says '[in transit|label created|out for delivery]' for {days} days",
        "the courier left the parcel with a neighbour in {city} whom I do not know",
        "[half|a part] of the delivery is missing, there was no {product} in the box",
        "can the {product} be delivered to {city} instead, I have moved?",
        "the driver [rang once|did not ring] and left, please arrange [a second|another] delivery",
        "the parcel with the {product} [is stuck|has been held] at customs since {date}",
        "when will order {order} be [dispatched|shipped|sent]?",
        "the delivery date of {order} has been moved [twice|three times|again] now",
        "according to the courier the address label of {order} was [damaged|wrong|unreadable]",
    ),
    "billing": (
        "I was charged {amount} twice for order {order}",
        "the invoice of {date} shows {amount} but we agreed on less",
        "my [card|credit card|payment] was declined although the bank sees no problem",
        "please send the [receipt|invoice] for {order}, my accountant needs it",
        "the [discount|voucher|loyalty] code was not taken off the total of {amount}",
        "there is a payment of {amount} on my statement that I do not recognise",
        "can I pay the {amount} in [two|three|six] instalments?",
        "VAT is calculated wrongly on the invoice for the {product}",
        "the direct debit for {date} bounced, how do I pay now?",
        "you billed us for {n} licences, we have only [two|three|five]",
    ),
    "technical": (
        "the {product} does not [switch on|start|respond] any more since the last update",
        "the app [crashes|closes|freezes] as soon as I open the [settings|camera|calendar|history]",
        "the {product} loses its connection to the wifi every [few minutes|hour|evening]",
        "error code {n} appears on the display and nothing helps",
        "the firmware update stops at {n} percent",
        "bluetooth pairing with the {product} fails on my [phone|laptop|tablet]",
        "since {date} the screen of the {product} [flickers|stays black|has stripes]",
        "the battery of the {product} is empty after [an hour|ten minutes|half a day]",
        "[exporting to|printing as|saving as] PDF freezes the program",
        "the {product} makes a [grinding|clicking|whistling] noise when it starts",
    ),
    "returns": (
        "I would like to send the {product} back, it is not what I [expected|ordered|wanted]",
        "the {product} arrived [broken|scratched|with a crack], how do I get a replacement?",
        "where is my refund for the return of {date}?",
        "please send a return label for [order|number] {order}",
        "I exchanged the {product} for a [larger|smaller|newer] one and got the same one again",
        "the warranty should cover the [cracked|broken|faulty] {product}",
        "your warehouse confirms the return but the money is not back after {days} days",
        "can I return [an opened|a used|an unopened] {product}?",
        "the wrong [colour|size|model] was in the box, I want to exchange it",
    ),
    "accounts": (
        "I cannot log in, the password reset [mail|message|link] never comes",
        "please change the [email address|phone number|name] of my account",
        "my account has been locked after [too many|three|a few] attempts",
        "the code for the second factor is [always|suddenly|often] rejected",
        "how do I add a [colleague|second user|family member] to our account?",
        "I have [two|three] accounts, please merge them",
        "the profile page shows somebody else's [name|photo|address]",
    ),
    "sales": (
        "do you offer a discount if we order {n} of the {product}?",
        "we are a [school|clinic|library] in {city} and would like a quote for {n} devices",
        "which plan do you recommend for a team of {n}?",
        "is the {product} compatible with the [older|smaller|professional] model?",
        "when will the {product} be back in stock?",
        "we want to upgrade from the [basic|free|starter] plan",
    ),
    "privacy": (
        "please delete all [data|recordings|information] that you hold about me",
        "I want a copy of [my personal data|everything you store about me] under the GDPR",
        "stop sending me the [newsletter|offers|surveys], I never signed up",
        "who has access to my [recordings|data|location] and where are they stored?",
        "I withdraw my consent to the use of my data for [marketing|research|profiling]",
    ),
}
"""[a|b] is one of a and b; {order} and the like are filled in."""

VAGUE = (
    "please call me back about {order}",
    "nobody has answered my [last message|mail|call] of {date}",
    "this is not acceptable, I want to speak to a [manager|supervisor]",
    "any news about my [request|case|question]?",
    "I am still waiting for an answer about the {product}",
    "as discussed on [the phone|{date}], please take care of it",
    "see the attached [screenshot|photo|letter]",
)

OPENINGS = (
    "", "", "", "Hello, ", "Hi, ", "Hi there! ", "Good morning, ", "Dear team, ", "Dear Sir or Madam, ",
    "Urgent: ", "Second attempt: ", "Hello support, ", "Bonjour, désolé for my English: ",
)  # fmt: skip

CLOSINGS = (
    "", "", "", " Thanks", " Thank you!", " Please help.", " Kind regards, {name}",
    " I expect an answer by {deadline}.", " This is the third time.", " Best, {name}",
    "\nSent from my phone",
)  # fmt: skip

FILLERS = {
    "product": (
        "headset", "coffee machine", "tablet", "router", "desk lamp", "keyboard", "camera",
        "smart watch", "vacuum cleaner", "printer", 'monitor 27"', "e-bike charger",
    ),
    "city": ("Leeds", "Porto", "Zürich", "Łódź", "Ghent", "Malmö", "Turin", "Kraków", "Cork", "Graz"),
    "date": ("Monday", "Friday", "3 May", "12 June", "last week", "the 14th", "yesterday", "1 March"),
    "deadline": ("tomorrow", "Friday", "Monday", "the end of the week", "noon"),
    "name": ("Anna", "J. Müller", "Tom", "Mrs O'Neill", "Sofía", "R. Patel", "Chloé", "Mihail"),
}  # fmt: skip

CHANNELS = {
    "shipping": ("email", "email", "chat", "phone", "web form"),
    "billing": ("email", "email", "email", "web form", "phone"),
    "technical": ("chat", "chat", "chat", "phone", "web form"),
    "returns": ("web form", "web form", "email", "chat", "web form"),
    "accounts": ("chat", "chat", "phone", "email", "chat"),
    "sales": ("phone", "phone", "email", "phone", "web form"),
    "privacy": ("email", "email", "email", "web form", "email"),
}

TIERS = {
    "shipping": ("basic", "basic", "plus"),
    "billing": ("basic", "plus", "business"),
    "technical": ("plus", "plus", "business"),
    "returns": ("basic", "basic", "plus"),
    "accounts": ("basic", "plus", "business"),
    "sales": ("business", "business", "plus"),
    "privacy": ("basic", "plus", "basic"),
}

HOURS = {
    "shipping": (8, 12),
    "billing": (9, 8),
    "technical": (13, 11),
    "returns": (10, 12),
    "accounts": (7, 16),
    "sales": (9, 7),
    "privacy": (8, 14),
}
"""From which hour on a team's tickets come, and for how many hours."""
