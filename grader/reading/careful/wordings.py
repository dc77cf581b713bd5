"""How people and models word a choice, a denial, a doubt, in a dozen languages: patterns over lower-cased text.

`*_BEFORE` patterns are searched in what precedes a mention inside its sentence and end where the mention starts;
`*_AFTER` patterns are matched at the mention's end.
"""

from __future__ import annotations

import re
from functools import cached_property


class Wording:
    """A pattern that is compiled when first needed: most replies need few of them, and start-up none."""

    def __init__(self, source: str) -> None:
        self.source = source

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.source)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Find the wording anywhere in `text`."""
        return self._compiled.search(text, start)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Find the wording at `start`."""
        return self._compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Tell whether `text` is the wording and nothing else."""
        return self._compiled.fullmatch(text)


_FILLERS = (
    "the|an?|option|options|choice|alternative|letter|answer|number|item|clearly|definitely|certainly|likely|probably|most|simply|"
    "obviously|indeed|therefore|thus|actually|just|still|only|really|surely|undoubtedly|best|correct|right|final|"
    "described|given|represented|indicated|by|labell?ed|marked|with|be|to|that|of|for|towards?|as|follows|it's|is|"
    "absolutely|almost|in|fact|currently|apparently|seemingly|"
    "die|der|das|dem|eindeutig|wahrscheinlich|wohl|buchstabe|antwort|lautet|nur|klar|"
    "le|la|les|lettre|r\u00e9ponse|donc|clairement|bien|probablement|que|"
    "el|opci\u00f3n|letra|claramente|probablemente|alternativa|inciso|lettera|opzione|chiaramente|probabilmente|"
    "op\u00e7\u00e3o|provavelmente|o|\u0432\u0430\u0440\u0438\u0430\u043d\u0442|\u043f\u043e\u0434|\u0431\u0443\u043a\u0432\u043e\u0439|\u0431\u0443\u043a\u0432\u0430|\u043e\u0442\u0432\u0435\u0442|"
    "\u0432\u0435\u0440\u043e\u044f\u0442\u043d\u043e|\u0441\u043a\u043e\u0440\u0435\u0435|\u0432\u0441\u0435\u0433\u043e|opcja|odpowied\u017a|optie|antwoord|\u0444\u0430\u043a\u0442\u0438\u0447\u0435\u0441\u043a\u0438"
)
_CJK_FILLERS = (
    "\u9009\u9879|\u9078\u9805|\u9009\u62e9|\u9078\u64c7|\u5b57\u6bcd|\u5e94\u8be5|\u61c9\u8a72|\u5e94|\u662f|\u4e3a|\u70ba|\u7b54\u6848|\u660e\u663e|\u663e\u7136|\u9009|\u9078|\u7684|\u4e86|"
    "\u9078\u629e\u80a2|\u8a18\u53f7|\u306f|\u304c|\uc120\ud0dd\uc9c0|\ubcf4\uae30|\uc635\uc158|\uc740|\ub294"
)
_FILL = rf"(?:[\s\"'*:,>(\[{{=/-]|\b(?:{_FILLERS})\b|(?:{_CJK_FILLERS}))*+"
_FILL_CLOSE = rf"(?:[\s\"'*(\[{{]|\b(?:{_FILLERS})\b|(?:{_CJK_FILLERS}))*+"
"""Fillers without a comma or a colon: what may stand between a denial and what it denies."""

_GAP = r"[^.!?;\n\u3002]{0,80}?"

_NOUN_ANSWER = (
    "answer|ans|solution|verdict|conclusion|guess|selection|antwort|l\u00f6sung|r\u00e9ponse|respuesta|risposta|resposta|"
    "\u043e\u0442\u0432\u0435\u0442|\u0440\u0435\u0448\u0435\u043d\u0438\u0435|\u0432\u0456\u0434\u043f\u043e\u0432\u0456\u0434\u044c|odpowied\u017a|odpov\u011b\u010f|antwoord|cevap|cevab\u0131|yan\u0131t|"
    "\u0111\u00e1p \u00e1n|c\u00e2u tr\u1ea3 l\u1eddi|jawaban|jawapan|svar|svaret|vastaus|r\u0103spuns|r\u0103spunsul|v\u00e1lasz|\u03b1\u03c0\u03ac\u03bd\u03c4\u03b7\u03c3\u03b7|"
    "\u0627\u0644\u0625\u062c\u0627\u0628\u0629|\u0627\u0644\u062c\u0648\u0627\u0628|\u062c\u0648\u0627\u0628|\u067e\u0627\u0633\u062e|\u05d4\u05ea\u05e9\u05d5\u05d1\u05d4"
)
_NOUN_OPTION = (
    "choice|option|letter|response|pick|one|statement|alternative|auswahl|wahl|option|buchstabe|choix|lettre|"
    "opci\u00f3n|alternativa|letra|elecci\u00f3n|opzione|scelta|lettera|op\u00e7\u00e3o|escolha|\u0432\u0430\u0440\u0438\u0430\u043d\u0442|\u0432\u044b\u0431\u043e\u0440|\u0431\u0443\u043a\u0432\u0430|"
    "opcja|optie|keuze|se\u00e7enek|\u015f\u0131k|l\u1ef1a ch\u1ecdn|ph\u01b0\u01a1ng \u00e1n|pilihan"
)
_IS = (
    "is|was|be|becomes|remains|seems|ist|w\u00e4re|lautet|est|serait|es|ser\u00eda|\u00e8|sarebbe|\u00e9|seria|\u044d\u0442\u043e|jest|l\u00e0|adalah|ialah|"
    "\u00e4r|er|on|je|este|\u0647\u064a|\u0647\u0648|\u05d4\u05d9\u05d0|\u05d4\u05d5\u05d0|\u03b5\u03af\u03bd\u03b1\u03b9|az?"
)
_CHOOSE = (
    "choose|choosing|chose|chosen|select|selecting|selected|pick|picking|picked|go(?:ing)? with|went with|opt(?:ing|ed)? for|vote(?:s|d)?(?: goes)? (?:for|to)|"
    "settl(?:e|ing|ed) (?:on|for)|guess|say(?:ing)?|answer(?:ing)? with|lean(?:ing)? towards?|favou?r|prefer|conclude|go(?:ing)? for|"
    "match(?:es|ed|ing)?(?: with| to)?|correspond(?:s|ed|ing)? (?:to|with)|point(?:s|ing)? to|aligns? with|consistent with|"
    "choisis|choisirais|opte pour|w\u00e4hle|entscheide mich f\u00fcr|nehme|tippe auf|"
    "elijo|escojo|selecciono|opto por|eligir\u00eda|escoger\u00eda|scelgo|opto per|sceglierei|escolho|seleciono|opto pela|opto pelo|marco|"
    "\u0432\u044b\u0431\u0438\u0440\u0430\u044e|\u0432\u044b\u0431\u0435\u0440\u0443|\u0432\u044b\u0431\u0440\u0430\u043b|\u0432\u044b\u0431\u0440\u0430\u043b\u0430|wybieram|kies|se\u00e7iyorum|ch\u1ecdn|memilih|pilih|v\u00e4ljer|velger|v\u00e6lger"
)
_STRONG = (
    rf"\b(?:{_NOUN_ANSWER})\b(?:{_GAP}\b(?:{_IS})\b|'s|\s+\u0e04\u0e37\u0e2d)?",
    rf"\b(?:{_NOUN_OPTION})\b{_GAP}(?:\b(?:{_IS})\b|[:=])",
    rf"\b(?:{_CHOOSE})\b",
    r"(?:\u7b54\u6848|\u6b63\u89e3|\u6b63\u786e\u9009\u9879|\u6b63\u78ba\u9078\u9805|\u9009\u9879|\u89e3\u7b54|\u56de\u7b54|\u7b54\u3048|\u9078\u629e\u80a2)[^,.!?\u3002\n]{0,30}?(?:\u662f|\u4e3a|\u70ba|:|\u9009|\u9078|\u306f|\u304c|\s)",
    r"(?:\u9009\u62e9?|\u9078\u64c7?)(?:\u9879|\u9805|\u7b54\u6848)?",
    r"(?:\uc815\ub2f5|\ub2f5\ubcc0|\ub2f5|\ud574\ub2f5)(?:\uc740|\ub294|\uc774|:|\s)",
    r"(?:\u0e04\u0e33\u0e15\u0e2d\u0e1a|\u0e02\u0e49\u0e2d|\u0909\u0924\u094d\u0924\u0930)[^.!?\n]{0,20}?",
)
STRONG_BEFORE = Wording(rf"(?:{'|'.join(_STRONG)}){_FILL}$")
"""An answer is being declared: "the answer is", "I choose", "\u7b54\u6848\u662f"."""

_TEXT_GAP = r"[^.!?;,\n\u3002]{0,60}?"
TEXT_BEFORE = Wording(
    rf"(?:\b(?:{_NOUN_ANSWER})\b(?:{_TEXT_GAP}\b(?:{_IS})\b|'s)?"
    rf"|\b(?:correct|right|best|final|chosen|my)\s+(?:\w+\s+)?(?:{_NOUN_OPTION})\b{_TEXT_GAP}(?:\b(?:{_IS})\b|[:=])"
    rf"|\b(?:{_CHOOSE})\b|{_STRONG[3]}|{_STRONG[4]}|{_STRONG[5]}){_FILL}$"
)
"""An option's text is being declared: stricter, for texts also turn up in descriptions ("option A is red")."""

_WEAK = (
    r"\b(?:so|thus|therefore|hence|ergo|consequently|accordingly|then|finally|overall|ultimately|in conclusion|to conclude|"
    r"in short|in summary|also|daher|deshalb|somit|folglich|donc|ainsi|par cons\u00e9quent|por (?:lo )?tanto|as\u00ed que|"
    r"entonces|quindi|dunque|perci\u00f2|portanto|logo|ent\u00e3o|assim|\u043f\u043e\u044d\u0442\u043e\u043c\u0443|\u0437\u043d\u0430\u0447\u0438\u0442|\u0441\u043b\u0435\u0434\u043e\u0432\u0430\u0442\u0435\u043b\u044c\u043d\u043e|\u0438\u0442\u0430\u043a|"
    r"final|dus|wi\u0119c|takže|takze)\b",
    r"(?:=>|->|\u2192|\u21d2|\u2234)",
    r"(?:\u6240\u4ee5|\u56e0\u6b64|\u6545|\u90a3\u4e48|\u7efc\u4e0a|\u6700\u7ec8|\u3088\u3063\u3066|\u3057\u305f\u304c\u3063\u3066|\u306a\u306e\u3067|\u3060\u304b\u3089|\ub530\ub77c\uc11c|\uadf8\ub7ec\ubbc0\ub85c|\uadf8\ub798\uc11c|\uc989)",
    r"\b(?:it|that|this|which)(?:'s| is| was| must be| has to be| should be| would be| seems to be| looks like| appears to be)\b",
    r"\b(?:c'est|ce serait|es ist|das ist|\u044d\u0442\u043e|to jest|dat is|het is|must be|has to be|should be|gotta be)\b",
    r"\bi(?: do|'d)? (?:think|believe|suppose|reckon|feel|assume|say)(?: that)?(?: it's| it is| it must be)?",
    r"\b(?:ich (?:denke|glaube|meine)|je (?:pense|crois)(?: que c'est)?|creo que(?: es)?|penso (?:che sia|que \u00e9)|credo (?:che )?sia|acho que \u00e9|\u0434\u0443\u043c\u0430\u044e)",
    r"(?:\u6211\u8ba4\u4e3a|\u6211\u89c9\u5f97|\u6211\u60f3)",
    r"\b(?:actually|no|wait|correction|corrected|sorry|oops|hmm+)\b",
    r"\b(?:but|rather|instead|however|sondern|mais|plut\u00f4t|sino|pero|ma|bens\u00ec|mas|sim|\u0430|\u043d\u043e)\b",
    r"(?:\u800c\u662f|\u5c31\u662f|\u5e94\u8be5\u662f|\u5e94\u662f|\u5e94\u4e3a|\u9009|\u662f)",
)
WEAK_BEFORE = Wording(rf"(?:{'|'.join(_WEAK)}){_FILL}$")
"""A conclusion or contrast that declares only where the mention ends its clause: "so B.", "but B"."""

CLAUSE_END = Wording(
    r"[\s\"'*)\]}]*(?:$|[.,;!\n\u3002]|[:(-]\s*(?!\w*\s*(?:no|not)\b)|because\b|since\b|as\b|for\b|due\b|given\b|weil\b|car\b|parce\b|porque\b|perch\u00e9\b|\u56e0\u4e3a|\u0939\u0948|\u3067\u3059|\u3060(?!\w)|\uc785\ub2c8\ub2e4|\uc774\ub2e4|\uc774\uc5d0\uc694|\u5427|\u4e86|\u3002)"
)

_NOT = (
    r"not|never|neither|nor|cannot be|except|excluding|without|rather than|instead of|as opposed to|"
    r"rul(?:e|es|ed|ing) out|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|reject(?:s|ed|ing)?|discard(?:s|ed|ing)?|"
    r"dismiss(?:es|ed|ing)?|cross(?:ed|ing)? out|nicht|kein|keine|statt|pas|non|no es|no|nunca|n\u00e3o|nao|em vez de|en lugar de|"
    r"invece di|\u043d\u0435|\u043a\u0440\u043e\u043c\u0435|\u0438\u0441\u043a\u043b\u044e\u0447\u0430\u0435\u043c|nie|niet|inte|ikke|de\u011fil"
)
DENIED_BEFORE = Wording(
    rf"(?:\b(?:{_NOT})\b|n't(?: be)?\b|(?:\bwrong|\bincorrect|\bfalse)(?: answer| option| choice)?s?(?: is| are|:)"
    rf"|\u4e0d\u662f|\u5e76\u975e|\u975e|\u4e0d\u9009|\u4e0d\u80fd\u9009|\u4e0d\u5e94\u9009|\u4e0d\u5e94\u8be5\u9009|\u6392\u9664|\u800c\u975e|\u9664\u4e86|\u9519\u8bef\u7684\u662f|\[ \]|\u2610|\u274c){_FILL_CLOSE}$"
    rf"|(?:\bnot|n't|\bnever|\bcannot)\s+(?:\w+\s+){{0,2}}?(?:think|believe|say|mean|match|correspond|fit|choose|select|pick|support|agree|go)\b[^.,;!?\n]{{0,60}}$"
)
"""What follows is denied: "not", "rule out", "I don't think the answer is", "\u4e0d\u662f"."""

_ADVERBS = r"(?:(?:also|clearly|definitely|certainly|therefore|thus|actually|simply|just|obviously|likely|probably|most|really|indeed|both|all|too|partially|partly|completely|totally|then|hence|of course)\s+)*"
_BE = r"(?:(?:is|are|was|were|seems?|appears?|looks?|would be|must be|should be|can be|could be|has to be|to be|remains?|'s|seems to be|appears to be|are both|are all)\s+)"
DENIED_AFTER = Wording(
    rf"\s*(?:(?:no|nope|wrong|incorrect|false)\b(?=\s*(?:$|[.,;\n]))|{_BE}{_ADVERBS}(?:not\b|n't|wrong|incorrect|false|invalid|out\b|eliminated|ruled out|excluded|rejected|discarded|impossible|unlikely|inaccurate|irrelevant|unsupported|"
    r"too\s+\w+|(?:an?|the)\s+(?:distractor|wrong|incorrect|decoy|trap))"
    rf"|(?:is|are|was|were|does|do|did|would|could|ca|has|have|wo|should)n't\b|(?:does|do|did|can|could|would|will|should|must|may)\s+{_ADVERBS}not\b|cannot\b|can be (?:ruled out|eliminated|excluded)|"
    r"fails?\b|contradicts?\b|lacks?\b|"
    r"[:([\]),-]*\s*[:(-]+\s*(?:not(?!\s+[(\[]?[b-z]\b|\s+[(\[]a[)\]]|\s+a\s*(?:$|[.,;]))\b|no\b(?!\s+doubt)|incorrect|wrong|false|nope|\u2717|\u2718|\u274c|\u2715|\u00d7|eliminated|ruled out|doesn't|isn't|unlikely|falsch|faux|falso|incorrect[oa]|errad[oa]|sbagliat[oa]|\u043d\u0435\u0442|\u043d\u0435\u0432\u0435\u0440\u043d\u043e|\u9519|\u4e0d)"
    r"|[)\]]?\s*[\u2717\u2718\u274c\u2715]"
    r"|(?:ist|sind)\s+(?:\w+\s+)?(?:falsch|nicht|inkorrekt|ausgeschlossen)|stimmt nicht|passt nicht|scheidet aus|(?:est|sont)\s+(?:fau(?:x|sse)|incorrecte?|pas|\u00e9limin\u00e9e?)|n'est|ne correspond|"
    r"(?:es|son|est\u00e1)\s+(?:incorrect[oa]|fals[oa]|err\u00f3ne[oa])|no\s+(?:es|corresponde|coincide|puede)|(?:\u00e8|sono)\s+(?:sbagliat|errat|fals|incorrett)|non\s+(?:\u00e8|corrisponde|pu\u00f2)|"
    r"(?:\u00e9|est\u00e1|s\u00e3o)\s+(?:errad|incorret|fals)|n\u00e3o\s+(?:\u00e9|est\u00e1|corresponde|pode)|(?:-\s*)?(?:\u043d\u0435\u0432\u0435\u0440|\u043d\u0435\u043f\u0440\u0430\u0432\u0438\u043b\u044c\u043d|\u043d\u0435 |\u043e\u0448\u0438\u0431)|"
    r"(?:\u9009\u9879|\u9805|\u9879)?(?:\u90fd|\u7684\u63cf\u8ff0|\u8bf4\u6cd5|\u4e5f|\u660e\u663e|\u5219)?(?:\u662f)?(?:\u9519|\u4e0d|\u6709\u8bef|\u6392\u9664|\u53ef\u4ee5\u6392\u9664|\u88ab\u6392\u9664|\u65e0\u5173)|"
    r"(?:\u306f|\u304c|\u3082)?(?:\u9593\u9055|\u8aa4\u308a|\u9055|\u4e0d\u6b63\u89e3|\u6b63\u3057\u304f\u306a|\u9069\u5207\u3067(?:\u306f)?\u306a|\u3067\u306f(?:\u306a|\u3042\u308a\u307e\u305b\u3093)|\u3058\u3083\u306a)|(?:\uc740|\ub294|\uc774|\uac00|\ub3c4)?\s*(?:\ud2c0|\uc544\ub2c8|\uc544\ub2d9|\uc544\ub2cc|\uc624\ub2f5))"
)
"""What precedes is denied: "is wrong", ": no,", "\u4e0d\u5bf9"."""

_GOOD = (
    r"correct|right|true|accurate|appropriate|suitable|plausible|answer|choice|option|match|best|valid|closest|fit|winner|solution|one|reasonable|logical|probable|likely"
)
CONFIRMED_AFTER = Wording(
    rf"\s*(?:(?:,\s*)?{_BE}{_ADVERBS}(?:(?:the|my|our|a|an|your)\s+)?(?:(?:most|more|only|best|correct|right|final|single|clear|obvious|logical|appropriate|likely|accurate|closest|intended|overall|good|better)\s+)*(?:{_GOOD})\b(?!\s+not\b)"
    rf"|{_ADVERBS}(?:best |accurately |correctly |perfectly |closely |exactly )*(?:match(?:es)?|fits?|corresponds?|describes?|represents?|works?|aligns?|wins|it is|is it|is best)\b"
    r"|would be my (?:choice|pick|answer|guess)|,?\s*final answer"
    r"|[)\],]*\s*[:(-]+\s*(?:this (?:\w+ )?(?:matches|is (?:the )?(?:correct|right))|(?:this is )?(?:the )?(?:correct|right|true|matches)\b(?!\s+not)|yes\b|\u2713|\u2714|\u2705|richtig|korrekt|vrai|correct[oa]|corrett[oa]|corret[oa]|\u0432\u0435\u0440\u043d\u043e|\u6b63\u786e|\u6b63\u78ba|\u5bf9)"
    r"|[)\]]?\s*[\u2713\u2714\u2705]"
    r"|(?:ist|w\u00e4re|stimmt|passt|scheint)\b(?:\s+(?:die|das|der|meine|am|ja|also|wohl|eindeutig))*(?:\s*(?:richtig|korrekt|beste|antwort|l\u00f6sung|wahl|passend))?"
    r"|est\s+(?:la |le |ma |bien )*(?:bonne|correcte?|r\u00e9ponse|meilleure?|juste|exacte?|vraie?)|correspond\b"
    r"|(?:es|ser\u00eda)\s+(?:la |el |mi )*(?:correct[oa]|respuesta|opci\u00f3n|mejor|verdader[oa])|(?:\u00e8|sarebbe)\s+(?:la |il |l'|quella )*(?:corrett[oa]|risposta|opzione|giust[oa]|miglior\w*)"
    r"|(?:\u00e9|est\u00e1|seria)\s+(?:a |o )*(?:corret[oa]|resposta|op\u00e7\u00e3o|cert[oa]|melhor)|(?:-\s*)?(?:(?:\u044f\u0432\u043b\u044f\u0435\u0442\u0441\u044f\s+)?(?:\u0432\u0435\u0440\u043d|\u043f\u0440\u0430\u0432\u0438\u043b\u044c\u043d))"
    r"|(?:\u9009\u9879|\u9805|\u9879)?(?:\u662f|\u4e3a|\u624d\u662f|\u5c31\u662f)?(?:\u6700)?(?:\u6b63\u786e|\u6b63\u78ba|\u5bf9\u7684|\u5bf9(?!\u5e94|\u4e8e|\u6bd4)|\u7b54\u6848|\u7b26\u5408|\u5408\u9002|\u6070\u5f53)"
    r"|(?:\u304c|\u306f|\u3092|\u3068)?(?:\u6700\u3082)?(?:\u6b63\u89e3|\u6b63\u3057\u3044|\u7b54\u3048|\u9069\u5207(?!\u3067)|\u9078\u3073|\u9078\u629e|\u601d\u3044\u307e\u3059|\u8003\u3048)|\u3067\u3059|\u3060\u3068\u601d"
    r"|(?:\ubc88)?(?:\uc774|\uac00|\ub97c|\uc744|\uc740|\ub294)?\s*(?:\uc815\ub2f5|\ub9de|\uc62c\ubc14|\uc801\uc808|\uc120\ud0dd|\uace0\ub974|\ub2f5\uc785)|\uc785\ub2c8\ub2e4|\uc774\uc5d0\uc694|\uc608\uc694)"
)
"""What precedes is confirmed: "is the correct answer", "matches", "\u6b63\u786e", "\u304c\u6b63\u89e3"."""

DOUBTED_BEFORE = Wording(
    rf"\b(?:if|whether|unless|suppose|supposing|wenn|ob|falls|si|se|\u0435\u0441\u043b\u0438)\b[^.,;:!?\n]{{0,80}}$"
    rf"|\b(?:initially|at first|at first glance|originally|first thought|first guess|one might|some might|some may|someone|people|you might|you may|might think|may think|tempted|tempting|appear at first|my initial|previously|zuerst|d'abord|al principio|inicialmente)\b(?:(?!\b(?:but|however|though|aber|mais|pero|ma|mas)\b)[^.;!?\n]){{0,100}}$"
    rf"|\b(?:could|might|may|can|k\u00f6nnte|pourrait|podr\u00eda|potrebbe|poderia)\s+(?:also\s+|possibly\s+|well\s+)*(?:be|sein|\u00eatre|ser|essere)\b{_FILL}$"
    rf"|\b(?:possibly|perhaps|maybe|consider(?:ing)?|check(?:ing)?|let's (?:see|check|look at|examine)|looking at|look at|compar(?:e|ing)|evaluat(?:e|ing)|regarding|about|examin(?:e|ing)|vielleicht|peut-\u00eatre|quiz\u00e1s?|forse|talvez)\b{_FILL}$"
    r"|(?:\u5982\u679c|\u5047\u5982|\u53ef\u80fd\u662f|\u4e00\u5f00\u59cb|\u8d77\u521d)[^,\u3002\n]{0,20}$"
)
"""What follows is only considered: "if the answer were", "at first I thought", "it could be"."""
DOUBTED_AFTER = Wording(r"\s*,?\s*(?:if|unless)\b|\s+or\s+(?:maybe|perhaps|possibly)\b|\s*\?")
COMPARED_BEFORE = Wording(
    rf"(?:\b(?:between|either|both|among|versus|vs|than|besides|unlike|and|options are|choices are|options|choices)\b|(?:\u5728|\u5230|\u6bd4)){_FILL_CLOSE}$"
)
"""What follows is one of several being compared."""

FINAL_BEFORE = Wording(
    r"\b(?:final|finally|therefore|thus|so|hence|conclusion|conclude|overall|ultimately|consequently|best|answer\s*:)|\u56e0\u6b64|\u6240\u4ee5|\u6700\u7ec8|\u7efc\u4e0a|\u6545|\u3088\u3063\u3066|\u3057\u305f\u304c\u3063\u3066|\ub530\ub77c\uc11c|\ucd5c\uc885|donc|daher|also|por (?:lo )?tanto|quindi|portanto|\u043f\u043e\u044d\u0442\u043e\u043c\u0443|\u0438\u0442\u0430\u043a"
)
"""Words that say: this one is the conclusion."""

RECONSIDERED = Wording(
    r"\b(?:wait|actually|however|hmm+|correction|on second thought|but|nope|scratch that|strike that|sorry|apologi[sz]e|apologies|"
    r"re-?(?:check|examin|consider|evaluat|assess|count|read|think|visit|look)\w*|looking again|look again|looking closer|look closer|upon closer|on closer|"
    r"closer (?:look|inspection)|let me (?:check|verify|double|look|think|correct)|double.?check\w*|verify|verifying|mistake\w*|mistaken|revis(?:e|ed|ing)|"
    r"changed? my mind|instead|rather|in fact|oops|moment|warte|eigentlich|doch|korrektur|attends?|attendez|en fait|en r\u00e9alit\u00e9|espera|en realidad|mejor dicho|"
    r"aspetta|in realt\u00e0|anzi|na verdade|espere|\u043f\u043e\u0434\u043e\u0436\u0434\u0438\u0442\u0435|\u043f\u043e\u0441\u0442\u043e\u0439\u0442\u0435|\u043d\u0430 \u0441\u0430\u043c\u043e\u043c \u0434\u0435\u043b\u0435|\u0442\u043e\u0447\u043d\u0435\u0435)\b"
    r"|\bno, |\u4e0d\u5bf9|\u7b49\u7b49|\u7b49\u4e00\u4e0b|\u91cd\u65b0|\u66f4\u6b63|\u7ea0\u6b63|\u4ed4\u7ec6|\u518d\u770b|\u5b9e\u9645\u4e0a|\u5176\u5b9e|\u3044\u3084|\u5f85\u3063\u3066|\u5b9f\u969b|\u3084\u306f\u308a|\uc7a0\uae50|\uc544\ub2c8|\uc0ac\uc2e4"
)
"""A change of mind between two declarations."""

WITHDRAWN = Wording(
    r"\b(?:that|this|it|which|my answer|the above)(?:'s| is| was| would be| can't be| cannot be)(?: also| actually| clearly| probably| just)* (?:wrong|incorrect|not right|not correct|not quite right|a mistake|mistaken|an error|false)\b"
    r"|\bi (?:take (?:it|that) back|was wrong|am wrong|made (?:a mistake|an error)|misread|misspoke|retract)|\b(?:scratch|strike|ignore|disregard|forget) (?:that|the above|my)\b"
    r"|\b(?:wait|actually|hold on|hmm+)\b[^\n]{0,80}\b(?:cannot|can't|unable|impossible|not sure|unsure)\b|\bsorry, (?:no|that)\b|\u4e0d\u5bf9|\u6211\u9519\u4e86|\u64a4\u56de"
)
UNSETTLED = Wording(r"\b(?:wait|hold on|hmm+|no, wait|on second thought)\b|\u7b49\u7b49|\u7b49\u4e00\u4e0b")
SETTLED = Wording(r"\b(?:yes|confirm\w*|indeed|still|stands?|right|correct|stick\w*)\b|\u786e\u8ba4|\u6ca1\u9519")

REFUSED = Wording(
    r"\b(?:can(?:no|')?t|can not|could(?: not|n't)|(?:am|is|are) not able to|unable to|not possible to|impossible to|difficult to|hard to|don't|do not|didn't|did not)\s+(?:\w+\s+){0,3}?"
    r"(?:help|assist|determine|tell|identify|answer|see|find|provide|know|say|process|view|access|make out|confirm|conclude|decide|choose|select|comply|discern|locate|have (?:enough|sufficient)|be (?:determined|answered|identified))\b"
    r"|\b(?:unable to|not enough information|insufficient information|no information|not (?:clear|sure|certain|visible|provided)|unclear|unsure|no idea|n/a|unknown|impossible to|without the image|no image|not applicable)\b"
    r"|\bnone of (?:the|these|those|them)\b|\b(?:no|neither|not any) (?:of the )?(?:\w+ )?(?:option|choice|answer)s?\b|\bfailed to obtain\b|\bi'm sorry\b|\bi am sorry\b|\bsorry, \b|\bi refuse\b|\bas an ai\b"
    r"|\u65e0\u6cd5|\u4e0d\u80fd\u786e\u5b9a|\u4e0d\u786e\u5b9a|\u4e0d\u77e5\u9053|\u62b1\u6b49|\u5bf9\u4e0d\u8d77|\u4ee5\u4e0a\u90fd\u4e0d|\u90fd\u4e0d\u662f|\u6ca1\u6709\u6b63\u786e|\u308f\u304b\u308a\u307e\u305b\u3093|\u5206\u304b\u308a\u307e\u305b\u3093|\u5224\u65ad\u3067\u304d|\u7533\u3057\u8a33|\u3067\u304d\u307e\u305b\u3093|\uc54c \uc218 \uc5c6|\ubaa8\ub974|\uc8c4\uc1a1|"
    r"\b(?:kann (?:ich )?nicht|kann das nicht|wei\u00df (?:ich )?(?:es )?nicht|tut mir leid|keine der|je ne (?:peux|sais)|d\u00e9sol\u00e9|aucune des|impossible de|no (?:puedo|s\u00e9|se puede)|lo siento|ningun[ao] de|non (?:posso|so|\u00e8 possibile)|mi dispiace|nessuna delle|n\u00e3o (?:posso|sei|consigo|\u00e9 poss\u00edvel)|desculpe|nenhuma das|\u043d\u0435 (?:\u043c\u043e\u0433\u0443|\u0437\u043d\u0430\u044e)|\u043d\u0435\u0432\u043e\u0437\u043c\u043e\u0436\u043d\u043e|\u0438\u0437\u0432\u0438\u043d\u0438\u0442\u0435|\u043d\u0438 \u043e\u0434\u0438\u043d)\b"
)
"""The reply says that it has no answer."""

CONNECTED = Wording(
    r"[\s,/&;|+*]*(?:(?:and|or|nor|und|oder|et|ou|y|o|e|ed|\u0438|\u0438\u043b\u0438|and/or|as well as|option|options)\s+)*[\s(\[\"'*]*|\s*(?:\u548c|\u6216|\u6216\u8005|\u53ca|\u4e0e|\u3068|\u307e\u305f\u306f|\u304a\u3088\u3073|\uc640|\uacfc|\ub610\ub294)\s*"
)
"""What stands between two mentions that form one list."""

QUESTION = Wording(r"\W*(?:is|are|was|could|would|should|does|do|did|which|what|who|why|can|how)\b")
"""A sentence that asks."""

NEGATION = Wording(r"\b(?:not|no|never|neither|without|cannot|none|isn't|aren't|doesn't|don't|wasn't|can't)\b|n't\b|\u4e0d|\u6ca1|\u672a")
SUBORDINATE = Wording(
    r",?\s*\b(?:as|because|since|while|whereas|given|considering|due to|although|though|even though|which|where|but|next to|near|behind|in front of|rather than|unlike|compared)\b"
)
"""Where a sentence's main statement ends and its reasons or surroundings begin."""
CONCLUDING = Wording(
    r"^\W*(?:so|thus|therefore|hence|consequently|in conclusion|conclusion|overall|finally|ultimately|in summary|to conclude|based on|this means|that means|it follows|given|also|daher|donc|por (?:lo )?tanto|quindi|portanto|\u6240\u4ee5|\u56e0\u6b64|\u7efc\u4e0a|\u6545|\u3057\u305f\u304c\u3063\u3066|\u3088\u3063\u3066|\ub530\ub77c\uc11c|\u043f\u043e\u044d\u0442\u043e\u043c\u0443|\u0438\u0442\u0430\u043a)"
)
