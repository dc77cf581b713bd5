"""How replies word a declaration, its revision, a refusal, a courtesy, and what they say about an option: one table.

The patterns are searched in lower-cased text. `*_BEFORE` end where the words of an option begin; `*_AFTER` are matched
where they end. The number beside a line is explained in `patterns.Lines`.
"""

# RUF001 takes foreign letters for mistakes. SIM905 asks for lists; words in one text are easier to read.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

from grader.scorers.patterns import Lines, Pattern, pattern_of_wordings

# Reasons of lines that decide few published replies: principles of the reading.
LANGUAGES = '"the answer is" in the languages at hand'
WITHDRAWN = "a correction replaces what it corrects"
DENIED_OPTION = "an option that is called wrong is not the answer"
CONDITIONAL = "an option in a question or a condition is not the answer"

# --- declarations ----------------------------------------------------------------------------------------------------

_LINKS = "is|was|are|be|becomes|equals|ist|lautet|est|es|sería|è|é|это|je|är|là|adalah"
DECLARES = pattern_of_wordings(
    r"(?<!can )(?<!could )(?<!to )\b<nouns>\b"
    rf"(?:[ \t]+(?!(?:{_LINKS}|not|cannot|can't|never)\b|\(?.\))[\w'()-]+){{0,6}}?"
    rf"(?:[\s*_\"`]*[:=]|[*_\"`]*\s+-{{1,2}}(?=\s)|\s+(?:{_LINKS})(?!\w|n't)|[ \t]*\n)|<bare>",
    nouns={
        r"answers?(?! (?:choices|options))": 9275,
        r"conclusion(?! that)": 7,
        r"(?:correct|right|best|final|chosen|my)\s(?:\w+\s)?(?:choice|option|statement|letter|selection|pick)": 11,
        "ans|verdict|guess|(?:the|my|final) solution": "g5-mc-latex-forms-of-an-option",
        "antwort|lösung|ergebnis|réponse|résultat|respuesta|resultado|risposta|resposta|ответ|odpowiedź|odpověď|"
        "antwoord|svaret|svar|vastaus|válasz|cevap|đáp án|jawaban(?:nya)?": LANGUAGES,
    },
    bare={  # their languages put no verb, or one that is a letter, between the noun and the answer
        r"故选:?|"
        r"(?:答案|正解|答え|解答|回答|答)[^,.!?。\n]{0,12}?(?:是|为|:|选|は|=|が)\s*(?:应该是|选项|选)?": LANGUAGES,
        r"(?:정답|답변|답|해답)(?:은|는|이|:)": "g5-mc-option-named-by-its-number",
        r"(?:الإجابة|الجواب|جواب|پاسخ)(?:\s+(?!هي|هو)\w+){0,2}?(?:\s*:|\s+(?:هي|هو|است)|(?=\s*\d))": LANGUAGES,
        r"(?:उत्तर|जवाब)(?:\s*:|(?=\s*\S))|คำตอบ\s*(?:คือ|:)": LANGUAGES,
    },
)
"""Declares what stands behind it to be the answer: "the answer is", "Ответ:", "答案是"."""
DECLARED = pattern_of_wordings(
    "<said>",
    said={
        r"\b(?:is|are|would be|must be) (?:the|my|our) (?:(?:final|correct|right|best) ){0,2}"
        r"(?:answer|solution|choice|result|option|one)\b(?! (?:to|of|for)\b)": 6,
    },
)
"""Declares what stands before it: "is the answer"."""
FINAL = pattern_of_wordings(
    r"\b<said>\b[^.!?:\n。]{0,20}$",
    said={"final(?:ly)?": 9, "corrected|correction|updated|revised": "revised-declarations"},
)
"""Before a declaration: it replaces the others."""
UNREAL_BEFORE = pattern_of_wordings(
    "<said>$", said={r"\bif\b(?! (?:i|we|you|one)\b)(?:(?!\bbut\b)[^.!?;\n]){0,120}": CONDITIONAL}
)
"""Before "would be": a condition. "If I had to guess" is not one: it is followed by the answer."""
DENIED = pattern_of_wordings(r"\W*<said>", said={r"not\b|n't\b|never\b": 20})
"""The beginning of a content that is denied."""
UNDECIDED = pattern_of_wordings(r"\b<said>\b", said={r"depend\w*|based on": 7})
"""In the content of a declaration: it leaves the answer open."""

# --- corrections -----------------------------------------------------------------------------------------------------

WITHDRAWS = pattern_of_wordings(
    r"(?:^|[.!?\n:;)\u2026*-])[\s*_(]{0,4}(?:(?:oh|no|but|hm{1,9}|um|ah|well|so|and|okay|ok|actually)\b"
    r"[\s,.\u2026]{0,4}){0,3}<said>|<bare>",
    said={
        r"wait\b(?! (?:time|list|for|until|staff))": "g5-mc-sorry-i-meant",
        r"actually, (?:no|that|this|i|let)|sorry, (?:no|that|i (?:made|mis))|correction\b|hold on\b|oops\b": WITHDRAWN,
        r"(?:that|this)(?:'s| is| was) (?:wrong|incorrect|not right)|on second thoughts?\b|scratch that": WITHDRAWN,
        r"let(?:'s| me| us) re-?(?:check|consider|evaluate|examine|think|count|read)\b|(?:up)?on re-?\w+": WITHDRAWN,
    },
    bare={"等等|更正|不对[,，。]": WITHDRAWN},
)
"""Withdraws what was said before: "Wait, ...", "Correction:", new reasoning."""
CORRECTS = pattern_of_wordings(
    r"\b<said>", said={r"i meant?\b(?! that)(?: to say)?|or rather\b": "g5-mc-sorry-i-meant"}
)
"""Corrects an answer: what follows is meant."""
RECONSIDERED = pattern_of_wordings(
    r"\b<said>\b",
    said={
        "but|however": 14,
        "wait|actually|correction|sorry|incorrect|wrong": "g5-mc-two-letters-glued",
    },
)
"""A change of mind between two claims."""

# --- sentences -------------------------------------------------------------------------------------------------------

REFUSES = pattern_of_wordings(
    r"\b<no>\s+(?:\w+\s+){0,4}?<verb>\b|\b<lacks>\b|\b<none>\b",
    no={
        r"can(?:no|')?t|can not|could(?: not|n't)|(?:am|is|are) not able to|unable to|"
        r"(?:not possible|impossible|difficult|hard) to|don't|do not|does(?:n't| not)|didn't|did not|without": 22,
    },
    verb={
        r"see|identify|determine\w*|know\w*|"
        r"help|assist|tell|read|choose|find|provid\w*|say|answer\w*|access|confirm|conclude|decide|calculat\w*|"
        r"comput\w*|solve|information|context|(?:image|picture|figure|data)\b": 22,
    },
    lacks={
        r"(?:not )?(?:enough|sufficient|insufficient|more|additional) (?:\w+ )?(?:information|data|context|"
        r"details)|no (?:information|idea|image|data)|not (?:clear|sure|certain|known|relevant|visible|provided|"
        r"given|specified|available|applicable)|(?:is|are|was) un(?:clear|known|sure)|as an ai|impossible to": 12,
    },
    none={r"none of (?:the|these|those|them)": 9},
)
"""A sentence that says that it has no answer."""
HEDGES = pattern_of_wordings(
    "<said>",
    said={
        r"\bwithout\b": 7,
        r"\b(?:hard|difficult|impossible) to\b|\bnot (?:entirely |completely |100% |absolutely |fully )?(?:clear|sure|"
        r"certain)\b|\b(?:definitive|conclusive|absolute|certain)(?:ly|ty)?\b|\b(?:more|additional|limited) "
        r"(?:information|context|details)\b": 13,
    },
)
"""In a refusal: it only doubts, and takes nothing back."""
NEVERTHELESS = pattern_of_wordings(
    r"\b<but>\b[, ]*",
    but={"but": 16, "however|still|nevertheless|nonetheless|yet|though": 10},
)
"""Behind a doubt: what follows is chosen nevertheless."""
COURTESY = pattern_of_wordings(
    r"\W*(?:(?:and|so|but|please|also|finally),? ){0,3}<said>",
    said={
        r"here(?:'s| is| are) (?:the|a|my|your|an|how)\b[^.]*:|you (?:can|could|may|might)\b|"
        r"i(?:'ve| have)? hope(?:d)?\b|hope (?:this|that|it)\b|let me know\b|feel free\b|"
        r"(?:many )?thanks?\b|thank you\b|you(?:'re| are) welcome\b|(?:i(?:'m| am) )?(?:happy|glad) to\b|do(?:n't| "
        r"not) hesitate\b|if you (?:have|need|want|would|'d|like)\b|"
        r"(?:sure|certainly|of course|absolutely|okay|ok|great)\b"
        r"(?=[,!.]* (?:i(?:'ll| can| will|'d)|let|here|let's)\b|[!.]*\s*$)": "g5-number-then-a-remark",
    },
)
"""The beginning of a sentence that frames an answer: a greeting, an offer, a wish."""
EXPLAINS = pattern_of_wordings(
    r"^[ \t*_#>]*<said>[ \t*_]*(?:[:：]|\n)",
    8,
    said={r"step[- ]by[- ]step(?: \w+)?": 57, "explanation|reasoning|notes?": 7},
)
"""The heading of an explanation."""
ASKS = pattern_of_wordings(
    r"^[ \t#*>\"-]*<said>[ \t*]*+(?:#?\d{1,3}[ \t*]*+)?[:.)\uff1a][ \t*]*+(?=\n?(?:[^\w\n]*\w+\b[^\n]{0,3}){3})",
    8,
    said={
        "questions?": 26,
        "q|input|human|user|problem|task|exercise|instruction|hint|prompt|example": "g5-mc-run-on-without-heading",
    },
)
"""The heading of a question, with at least three words behind it: "Q: true" is a line of a truth table."""
ASKS_ANEW = pattern_of_wordings(
    "<said>",
    said={
        r"(?<=\n)[^\n]{8,400}[?\uff1f][ \t]*\n{1,3}[ \t]{0,4}\(?A[.):][^\n]{0,300}\n{1,3}[ \t]{0,4}\(?B[.):]|"
        r"(?<=\n)(?:The|the) following (?:is|are) (?:a )?multiple.choice questions?\b": "g5-mc-run-on-without-heading"
    },
)
"""A question without a heading: copied options behind it, or the beginning of a benchmark's own prompt."""
_SO: Lines = {"so|thus|hence|therefore|finally|in (?:total|conclusion|summary)|overall|consequently|ultimately": 49}
CONCLUDES = pattern_of_wordings(
    r"\W{0,4}(?:<so>\b|<label>|所以|因此)",
    so=_SO,
    label={"(?:conclusion|a|total):": 11},
)
"""The beginning of a sentence that concludes."""
CONCLUDING = pattern_of_wordings(r"(?:\b<so>\b|所以|因此)[^.!?\n。]{0,40}$", so=_SO)
"""Before a declaration: it concludes, and so replaces an earlier one."""

# --- choices and conclusions -----------------------------------------------------------------------------------------

CHOOSES = pattern_of_wordings(
    r"\b<said>\b",
    said={
        r"corresponds? to|consistent with|closest to": 7,
        r"i(?:'d| would| will|'ll| must)? (?:still )?(?:choose|select|pick|go with|opt for|say|guess|answer)(?:ing)?|"
        r"select|choose|pick|leaning towards?|leaves|left with|narrow(?:s|ed)? it down to": "g5-mc-elimination",
    },
)
"""Chooses what follows: "I would go with"."""
INFERS = pattern_of_wordings(
    r"\b<said>\b|=>|->|→",
    said={
        "then|but|so|thus|therefore|hence|i (?:think|believe|suppose)|it(?:'s| is| must be| has to be| should be)|"
        "must be|only|rather|actually|probably|likely": "g5-mc-not-sure-but",
    },
)
"""Before a clause that is only an answer: "so B."."""
CHOSEN = pattern_of_wordings(
    r"\b<said>",
    said={
        r"(?:is|are|was|seems?|looks|would be|must be|appears?)(?: to be)? (?:clearly |definitely |therefore |"
        r"thus |also |the |most |more |only |my ){0,3}(?:right|correct|true|best|accurate|likely|plausible|better|"
        r"answer|choice|option|match|fit)\b(?! (?:to|that|about|not)\b)": 15,
        r"(?:remains|fits)\b|(?:best |accurately |correctly |closely |exactly )(?:match(?:es)?|fits?|describes?|"
        r"represents?)\b": "g5-mc-elimination",
    },
)
"""Behind an answer: it is chosen."""

# --- what is said about an option ------------------------------------------------------------------------------------

_FILLERS = (
    "the|an?|options?|choices?|statement|letter|answer|number|clearly|definitely|certainly|likely|probably|most|"
    "obviously|therefore|just|only|really|best|correct|right|final|represented|indicated|by|labell?ed|with|be|to|that|"
    "of|for|as|follows|it's|is|in|on|either|both|between|"
    "die|der|das|daher|le|la|les|lettre|donc|es|est|ist|è|é|el|opción|letra|por lo tanto|quindi|lettera"
)
FILL = rf"(?:[\s\"'*:,>(\[{{}}=/-]|\b(?:{_FILLERS})\b)*+"
FILL_START = Pattern(FILL)
"""Words without a meaning of their own between a form and an option."""
_FILL_CLOSE = rf"(?:[\s\"'*(\[{{]|\b(?:{_FILLERS})\b)*+"
CLAUSE_END = pattern_of_wordings(
    r"[\s\"'*)\]}]*<said>",
    said={
        r"$|[.,;!\n。]|[:(-]\s*+(?!\w*\s*(?:no|not)\b)|(?:because|since|as|for|due|given)\b": 49,
    },
)
"""What can stand behind an option at the end of its clause."""
_BE = r"(?:(?:is|are|was|were|seems?|appears?|looks?|would be|must be|should be|could be|has to be|to be|'s)\s+)"
_ADVERBS = r"(?:(?:also|clearly|definitely|certainly|therefore|simply|obviously|most|really|both|all)\s+)*"
DENIED_BEFORE = pattern_of_wordings(
    rf"<said>{_FILL_CLOSE}$",
    said={
        r"\bnot\b|n't(?: be)?\b": 5,
        r"\b(?:never|neither|none of|nor|cannot be|no|except|without|rather than|instead of|rul(?:e|es|ed|ing) out|"
        r"eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|nicht|pas)\b|不是": "none-of-the-options",
    },
)
"""Denies what follows: "not", "rule out", "不是"."""
DENIED_AFTER = pattern_of_wordings(
    r"(?:[,.]?[\"']\s?)?\s*+<said>",
    said={
        rf"{_BE}{_ADVERBS}(?:not\b|n't|wrong|incorrect|false|eliminated|ruled out|excluded|impossible|unlikely|too\s+"
        r"\w+|(?:an?|the)\s+(?:\w+ )?(?:distractor|wrong|incorrect|mis(?:take|match|conception)\w*|mistake|error))|"
        r"(?:is|are|was|were|does|do|did|would|could|ca|has|have|wo|should)n't\b|(?:does|do|did|can|could|would|will|"
        rf"should|must|may)\s+{_ADVERBS}not\b|cannot\b|can be (?:ruled out|eliminated|excluded)|fails?\b|"
        r"[)\].]*\s*(?:no|wrong|incorrect|false)\b(?=\s*(?:$|[.,;(\n]))|(?:\.(?=:))?[:([\]),-]*\s*[:(-]+\s*(?:not(?!\s+"
        r"[(\[]?[b-z]\b|\s+[(\[]a[)\]]|\s+a\s*(?:$|[.,;]))\b|no\b(?!\s+doubt)|incorrect|wrong|false)|[)\]]?"
        r"\s*[✗✘❌✕]": DENIED_OPTION,
    },
)
"""Denies what precedes: "is wrong", ": no,"."""
DOUBTED_BEFORE = pattern_of_wordings(
    "<said>$",
    said={
        r"\b(?:although|though|while|whereas|despite|(?:in|by) contrast,?)(?=\W)[^.,;!?\n]{0,60}": 13,
        rf"\b(?:than|unlike|(?:differs?|different|distinct) from|compared (?:to|with)|next to|near|beside|behind)\b"
        rf"{_FILL_CLOSE}|\bthan (?:the )?(?:[\w-]+ ){{0,3}}": 31,
        rf"\b(?:possibly|perhaps|maybe|consider(?:ing)?|check(?:ing)?|look(?:ing)? at|start(?:ing)? with|(?:could|"
        rf"might|may|can) (?:also )?be)\b{_FILL_CLOSE}": "g5-mc-cut-off-among-the-options",
        rf"\b(?:if|whether|unless)\b(?:[^.,;:!?\n]{{0,80}}|[^.;!?\n]{{0,80}}\bwould be\b{_FILL_CLOSE})": CONDITIONAL,
    },
)
"""Only considers what follows, or compares with it: "it could be", "than"."""
DOUBTED_AFTER = pattern_of_wordings(
    r"\s*+<said>",
    said={
        r",\s*(?:on the other hand|in (?:contrast|comparison)|while|whereas)\b": "g5-mc-first-sentence-answers",
        r",?\s*(?:if|unless)\b|\?": CONDITIONAL,
    },
)
CONNECTED = pattern_of_wordings(
    r"[\s,/&;|+*\"']*(?:<said>\s+)*[\s(\[\"'*]*|[)\]]\s*(?:,|/|and|or)\s*|\s*[和或]\s*",
    said={"and": 183, "or|nor|and/or|as well as|options?|oder|et|ou|y|o|e|и|или": 40},
)
"""The text between two options that form one list."""
RANKED = Pattern(r"\s*[)\]]?\s*(?:-{0,2}[>≥<≻]|→)\s*[(\[]?")
"""The text between two options of a ranking."""
NEGATED_QUESTION = pattern_of_wordings(
    r"\b<said>\b|n't\b|不", said={"not|except|false|incorrect|wrong|untrue": "C06-not-question"}
)
"""A question that asks for what is not so."""
NONE_FITS = pattern_of_wordings("<said>", said={r"(?<!\bnot )\bnone of\b|\bneither of\b": "none-of-the-options"})
"""A reply in which no option is right."""
NONE_OPTION = Pattern(r"^\W*(?:none|neither|nothing)\b|\bnone of\b")
VERBS = frozenset(
    "is isn't was are aren't would should must can cannot can't could does doesn't has have seems appears looks "
    "matches match fits fit describes depicts shows represents corresponds because since and or but nor not it "
    "though although might may will remains works indicates refers contains states mentions says makes suggests "
    "gives as for which with best correctly clearly most correct right wrong incorrect only too here rather over "
    "than if due given based in from instead again final answer ist oder est et ou es y o è e и или".split()
)
"""What can follow a letter that is an option."""
_OPTION_NOUNS = "options?|choices?|point|image|picture|box|region|statement|letter"
NOUN_BEFORE = Pattern(rf"(?:the )?(?:{_OPTION_NOUNS})[\s\"'(*]*$")
"""The noun of an option before its letter."""
NAMED_BEFORE = Pattern(
    rf"(?:\b(?:{_OPTION_NOUNS}|answers?|ans|opción|opzione|letra|lettera|lettre|antwort|réponse|вариант)|选项)"
    r"[\s\"'(\[:.-]*$"
)
"""The noun of an option before a letter that it names."""
ALLOWED_BEFORE = Pattern(
    r"(?:^|[^\w\s]|[\u3040-\uffee]|'s|\b(?:is|are|be|likely|probably|actually|clearly|definitely|certainly|indeed|was|so|"
    r"thus|hence|therefore|and|or|not|than|but|then|to|with|for|either|both|neither|nor|of|between|only|out|say|choose|"
    r"pick|guess|on|ist|und|oder|nicht|sondern|et|ou|est|mais|es|y|o|è|é|e|la|и|или|это|ответ|là|adalah|هي|هو|है|คือ|"
    r"उत्तर|är))[ \t]*[\"'*(\[]*$"
)
"""What can stand before a capital that is an option: punctuation, or a word that no name follows."""
DENIED_LATER = pattern_of_wordings(
    r"(?:(?!\b(?:because|since|as|but|so)\b)[^.;!?\n]){0,140}?\b<said>",
    said={
        r"(?:does|do|did|would|is|are|was|could|can)(?: not|n't)\b|cannot\b|"
        r"lacks?\b|differs?\b|too (?:large|small|big|wide|loose|tight|high|low|broad)\b|less likely\b|unlikely\b": 7,
    },
)
"""Denies an option later in its sentence: "the second image shows a table, which does not fit"."""
VERDICTS = Pattern(
    r"^[ \t*+>#-]{0,12}(?P<before>[✓✔✅✗✘❌✕] ?)?[(\[]?(?P<letter>[a-z])(?:[).:\]]|(?= [✓✔✅✗✘❌✕]))[^\n]*$", 8
)
RIGHT = Pattern(r"[✓✔✅]|\b(?:true|correct|right|yes)\b[.!) *]*$")
WRONG = Pattern(r"[✗✘❌✕]|\b(?:false|incorrect|wrong|no|not (?:true|correct|right))\b[.!) *]*$")
"""A line that judges an option."""

# --- the fields of a review ------------------------------------------------------------------------------------------

OTHER_NAMES = "a field has several names"
FIELDS = pattern_of_wordings(
    r"(?:\A|\n)[^a-z\u4e00-\u9fff\n]{0,40}+(?:(?P<verdict><verdicts>)|(?P<step><steps>)|(?P<reason><reasons>)"
    r"|(?P<verdict_short><short_verdicts>)|(?P<step_short><short_steps>)|(?P<reason_short><short_reasons>))"
    r"(?:[ \t]*[(\[][^()\[\]\n]{0,60}[)\]])?(?:[ \t\"'\])]{0,8}+(?:[:=|>]|-+(?=\s)|is\b|[为是]|(?=\n|\Z))"
    r"|(?=[ \t]+(?:(?:in)?correct|step[ \t]*\d{1,2}|n/?a)\W{0,4}(?:\n|\Z)))",
    verdicts={
        r"(?:(?:overall|final|revised|the)[ _]){0,2}(?:overall|final|solution|code|answer)(?:'s)?[ _]?(?:correctness|"
        r"verdict|judge?ment|decision|assessment)": 17,
        r"[\u4e00-\u9fff]{0,6}正确性": LANGUAGES,
    },
    steps={
        r"(?:the )?first[ _]?(?:error|incorrect|wrong|mistake)(?:[ _]?(?:step|line|code|location|number)){0,3}": 37,
        r"[\u4e00-\u9fff]{0,6}错误的?(?:步骤|位置|代码行|行)": LANGUAGES,
    },
    reasons={
        r"error[ _]?(?:reason|analysis|explanation|description)": 232,
        r"错误的?(?:原因|理由|分析|解释)": LANGUAGES,
    },
    short_verdicts={"correctness|verdict|judge?ment": OTHER_NAMES},
    short_steps={"(?:error|incorrect|wrong)[ _]?(?:step|line|location)": OTHER_NAMES},
    short_reasons={"reason|explanation": OTHER_NAMES},
)
"""Heads a field of a review, on a line of its own or before its content: "Solution Correctness:". A short name counts
where no full one of the field stands. The numbers are of 1,133 responses."""
FIELDS_INLINE = pattern_of_wordings(
    r"(?<![a-z/])(?:(?P<verdict><verdicts>)|(?P<step><steps>)|(?P<reason><reasons>))[ \t\"'\])]{0,8}+[:=>]",
    verdicts={r"solution[ _]?correctness|final[ _]?decision": "g5-mrben-forms-of-the-step"},
    steps={r"first[ _]?error[ _]?step": "g5-mrben-forms-of-the-step"},
    reasons={r"error[ _]?reason": "g5-mrben-forms-of-the-step"},
)
"""The same in the middle of a line, as in JSON: only names that prompts give."""
