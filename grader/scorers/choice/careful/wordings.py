"""How people and models word a choice, a denial or a doubt, in a dozen languages: patterns over lower-cased text.

`*_BEFORE` patterns are searched in the text before a mention, inside its sentence, and end where the mention starts.
`*_AFTER` patterns are matched at the mention's end.
"""

# ruff: noqa: RUF001 - look-alike letters and foreign words are what this file is about

from __future__ import annotations

from grader.scorers.patterns import Pattern

_FILLERS = (
    "the|an?|option|options|choice|alternative|letter|answer|number|item|clearly|definitely|certainly|"
    "likely|probably|most|simply|"
    "obviously|indeed|therefore|thus|actually|just|still|only|really|surely|undoubtedly|best|correct|right|final|"
    "described|given|represented|indicated|by|labell?ed|marked|with|be|to|that|of|for|towards?|as|follows|it's|is|"
    "absolutely|almost|in|on|at|fact|currently|apparently|seemingly|"
    "die|der|das|dem|eindeutig|wahrscheinlich|wohl|buchstabe|antwort|lautet|nur|klar|"
    "le|la|les|lettre|réponse|donc|clairement|bien|probablement|que|"
    "es|est|ist|è|é|el|opción|letra|claramente|probablemente|alternativa|inciso|lettera|opzione|chiaramente|probabilmente|"
    "opção|provavelmente|o|вариант|под|буквой|буква|ответ|"
    "вероятно|скорее|всего|opcja|odpowiedź|optie|antwoord|фактически"
)
_CJK_FILLERS = (
    "选项|選項|选择|選擇|字母|应该|應該|应|是|为|為|答案|明显|显然|选|選|的|了|選択肢|記号|は|が|선택지|보기|옵션|은|는"
)
_FILL = rf"(?:[\s\"'*:,>(\[{{=/-]|\b(?:{_FILLERS})\b|(?:{_CJK_FILLERS}))*+"
_FILL_CLOSE = rf"(?:[\s\"'*(\[{{]|\b(?:{_FILLERS})\b|(?:{_CJK_FILLERS}))*+"
"""Fillers without a comma or a colon: they can come between a denial and the denied option."""

_GAP = r"[^.!?;\n。]{0,80}?"

_NOUN_ANSWER = (
    "answer|ans|solution|verdict|conclusion|guess|selection|antwort|lösung|réponse|respuesta|risposta|resposta|"
    "ответ|решение|відповідь|odpowiedź|odpověď|antwoord|cevap|cevabı|yanıt|"
    "đáp án|câu trả lời|jawaban|jawapan|svar|svaret|vastaus|răspuns|răspunsul|válasz|απάντηση|"
    "الإجابة|الجواب|جواب|پاسخ|התשובה"
)
_NOUN_OPTION = (
    "choice|option|letter|response|pick|one|statement|alternative|auswahl|wahl|option|buchstabe|choix|lettre|"
    "opción|alternativa|letra|elección|opzione|scelta|lettera|opção|escolha|вариант|выбор|буква|"
    "richtig|korrekt|la correcta|la bonne|la corretta|a correta|a certa|"
    "opcja|optie|keuze|seçenek|şık|lựa chọn|phương án|pilihan"
)
_IS = (
    "is|was|be|becomes|remains|seems|ist|wäre|lautet|est|serait|es|sería|è|sarebbe|é|seria|это|jest|là|adalah|ialah|"
    "är|er|on|je|este|هي|هو|היא|הוא|είναι|az?"
)
_CHOOSE = (
    "choose|choosing|chose|chosen|select|selecting|selected|pick|picking|picked|go(?:ing)? with|"
    "went with|opt(?:ing|ed)? for|vote(?:s|d)?(?: goes)? (?:for|to)|"
    "settl(?:e|ing|ed) (?:on|for)|guess|say(?:ing)?|answer(?:ing)? with|lean(?:ing)? towards?|favou?r|"
    "prefer|conclude|go(?:ing)? for|"
    "match(?:es|ed|ing)?(?: with| to)?|correspond(?:s|ed|ing)? (?:to|with)|point(?:s|ing)? to|"
    "aligns? with|consistent with|"
    "choisis|choisirais|opte pour|wähle|entscheide mich für|nehme|tippe auf|"
    "elijo|escojo|selecciono|opto por|eligiría|escogería|scelgo|opto per|sceglierei|escolho|seleciono|"
    "opto pela|opto pelo|marco|"
    "выбираю|выберу|выбрал|выбрала|wybieram|kies|seçiyorum|chọn|memilih|pilih|väljer|velger|vælger"
)
_STRONG = (
    rf"\b(?:{_NOUN_ANSWER})\b(?:{_GAP}\b(?:{_IS})\b|'s|\s+คือ)?",
    rf"\b(?:{_NOUN_OPTION})\b{_GAP}(?:\b(?:{_IS})\b|[:=])",
    rf"\b(?:{_CHOOSE})\b",
    r"(?:答案|正解|正确选项|正確選項|选项|解答|回答|答え|選択肢)[^,.!?。\n]{0,30}?(?:是|为|為|:|选|選|は|が|\s)",
    r"(?:选择?|選擇?)(?:项|項|答案)?",
    r"(?:정답|답변|답|해답)(?:은|는|이|:|\s)",
    r"(?:คำตอบ|ข้อ|उत्तर|जवाब|विकल्प|الخيار)[^.!?\n]{0,20}?",
    rf"\b(?:correct|best|closest|most (?:likely|appropriate|suitable))\s(?:[\w-]+\s){{0,5}}?(?:{_IS})\b",
    r"(?:\[x\]|☑)",
)
STRONG_BEFORE = Pattern(rf"(?:{'|'.join(_STRONG)}){_FILL}$")
"""Declares an answer: "the answer is", "I choose", "答案是"."""

FORM_BEFORE = Pattern(
    rf"(?:\b(?:{_NOUN_ANSWER})\b(?:\s+(?:\w+\s+){{0,3}})?(?:\b(?:{_IS})\b|[:=])"
    rf"|\b(?:correct|right|best|final|chosen|my)\s+(?:\w+\s+)?(?:{_NOUN_OPTION})\b\s*(?:\b(?:{_IS})\b|[:=])"
    rf"|{'|'.join(_STRONG[3:6])}){_FILL}$"
)
"""The form of an answer, directly before it: "the answer is", "correct option:", "答案是"."""
FORM = Pattern(rf"{FORM_BEFORE.pattern[:-1]}")
FORM_LIST = Pattern(rf"{FORM_BEFORE.pattern[:-1]}\b(?:either|both|between)\b{_FILL_CLOSE}$")
"""The form of an answer before several options: "the answer is either"."""
FORM_REFUSED = Pattern(
    r"\banswer(?: is|:)?\W*(?:that |it |this |the (?:question|answer) |is ){0,4}"
    r"(?:(?:can ?not|can't|could not) be (?:\w+ )?(?:answered|determined|found|given|chosen)|unknown\b|unclear\b|"
    r"indeterminate\b|not (?:clear|known|possible|determin\w+|among|listed|given|provided|present|available)\b|"
    r"none of (?:the|these|those)\b)"
)
"""A statement that refuses an answer: no option is right, or the writer cannot tell."""

_TEXT_GAP = r"[^.!?;,\n。]{0,60}?"
TEXT_BEFORE = Pattern(
    rf"(?:\b(?:{_NOUN_ANSWER})\b(?:{_TEXT_GAP}\b(?:{_IS})\b|'s)?"
    rf"|\b(?:correct|right|best|final|chosen|my)\s+(?:\w+\s+)?(?:{_NOUN_OPTION})\b{_TEXT_GAP}(?:\b(?:{_IS})\b|[:=])"
    rf"|\b(?:{_CHOOSE})\b|{_STRONG[3]}|{_STRONG[4]}|{_STRONG[5]}){_FILL}$"
)
"""Declares an option's text. It is stricter, because texts also occur in descriptions ("option A is red")."""

_WEAK = (
    r"\b(?:so|thus|therefore|hence|ergo|consequently|accordingly|then|finally|overall|ultimately|"
    r"in conclusion|to conclude|"
    r"in short|in summary|also|daher|deshalb|somit|folglich|donc|ainsi|par conséquent|por (?:lo )?tanto|así que|"
    r"entonces|quindi|dunque|perciò|portanto|logo|então|assim|поэтому|значит|следовательно|итак|"
    r"final|dus|więc|takže|takze)\b",
    r"(?:=>|->|→|⇒|∴)",
    r"(?:所以|因此|故|那么|综上|最终|よって|したがって|なので|だから|따라서|그러므로|그래서|즉)",
    r"\b(?:it|that|this|which)(?:'s| is| was| must be| has to be| should be| would be| seems to be|"
    r" looks like| appears to be)\b",
    r"\b(?:c'est|ce serait|es ist|das ist|это|to jest|dat is|het is|must be|has to be|should be|gotta be)\b",
    r"\bi(?: do|'d)? (?:think|believe|suppose|reckon|feel|assume|say)(?: that)?(?: it's| it is| it must be)?",
    r"\b(?:ich (?:denke|glaube|meine)|je (?:pense|crois)(?: que c'est)?|creo que(?: es)?|penso (?:che sia|"
    r"que é)|credo (?:che )?sia|acho que é|думаю)",
    r"(?:我认为|我觉得|我想)",
    r"\b(?:actually|no|wait|correction|corrected|sorry|oops|hmm+|on second thoughts?|nein|non|nee|нет|perdón|pardon|"
    r"edit(?=:)|korrektur|berichtigung|corrección|correzione|correção|исправление|исправляюсь)\b",
    r"\b(?:but|rather|instead|however|sondern|mais|plutôt|sino|pero|ma|bensì|mas|sim|а|но)\b",
    r"(?:而是|就是|应该是|应是|应为|选|是|いや|いえ|아니)",
)
WEAK_BEFORE = Pattern(rf"(?:{'|'.join(_WEAK)}){_FILL}$")
"""A conclusion or contrast that declares an answer only if the mention ends its clause: "so B.", "but B"."""

CLAUSE_END = Pattern(
    r"[\s\"'*)\]}]*(?:$|[.,;!\n。]|[:(-]\s*(?!\w*\s*(?:no|not)\b)|because\b|since\b|as\b|for\b|due\b|"
    r"given\b|weil\b|car\b|parce\b|porque\b|perché\b|因为|है|です|だ(?!\w)|입니다|이다|이에요|吧|了|。)"
)

_NOT = (
    r"not|never|neither|nor|weder|noch|ni|né|nem|ani|cannot be|except|excluding|without|rather than|"
    r"instead of|as opposed to|"
    r"rul(?:e|es|ed|ing) out|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|reject(?:s|ed|ing)?|discard(?:s|ed|ing)?|"
    r"dismiss(?:es|ed|ing)?|cross(?:ed|ing)? out|nicht|kein|keine|statt|pas|non|no es|no|nunca|não|nao|"
    r"em vez de|en lugar de|"
    r"invece di|не|кроме|исключаем|nie|niet|inte|ikke|değil"
)
DENIED_BEFORE = Pattern(
    rf"(?:\b(?:{_NOT})\b|n't(?: be)?\b|(?:\bwrong|\bincorrect|\bfalse)(?: answer| option| choice)?s?(?: is| are|:)"
    rf"|不是|并非|非|不选|不能选|不应选|不应该选|排除|而非|除了|错误的是|\[ \]|☐|❌){_FILL_CLOSE}$"
    rf"|(?:\bnot|n't|\bnever|\bcannot)\s+(?:\w+\s+){{0,2}}?(?:think|believe|say|mean|match|correspond|fit|"
    rf"choose|select|pick|support|agree|go)\b[^.,;!?\n]{{0,60}}$"
)
"""Denies what follows: "not", "rule out", "I don't think the answer is", "不是"."""

_ADVERBS = (
    r"(?:(?:also|clearly|definitely|certainly|therefore|thus|actually|simply|just|obviously|likely|"
    r"probably|most|really|indeed|both|all|too|partially|partly|completely|totally|then|hence|"
    r"of course)\s+)*"
)
_BE = (
    r"(?:(?:is|are|was|were|seems?|appears?|looks?|would be|must be|should be|can be|could be|has to be|"
    r"to be|remains?|'s|seems to be|appears to be|are both|are all)\s+)"
)
_NO = "no|nope|nah|nein|nicht|non|nee|não|нет|لا|नहीं|いいえ|違|아니|不是|不对|不|否|没有|错"
_YES = "yes|yep|yeah|correct|right|ja|oui|sí|si|sì|sim|да|верно|نعم|हाँ|हां|はい|そう|네|예|맞|是|对|正确|没错"
_ANSWERED = r"[\"'*)\]]*\?[\s\"'*]*"
"""A question mark after an option, as in "A? No."."""
DENIED_AFTER = Pattern(
    rf"(?:[,.]?[\"']\s?)?\s*(?:{_ANSWERED}(?:{_NO})(?![a-z\u0400-\u04ff])|[)\].]*\s*(?:no|nope|nein|non|нет|wrong|incorrect|false)\b(?=\s*(?:$|[.,;(\n]))|{_BE}{_ADVERBS}(?:not\b|"
    r"n't|wrong|incorrect|false|invalid|out\b|eliminated|ruled out|excluded|rejected|discarded|impossible|"
    r"unlikely|inaccurate|irrelevant|unsupported|"
    r"too\s+\w+|(?:an?|the)\s+(?:(?:common|popular|typical|frequent)\s+)?(?:distractor|wrong|incorrect|decoy|trap|mis\w+|mistake|error))"
    r"|(?:is|are|was|were|does|do|did|would|could|ca|has|have|wo|should)n't\b|(?:does|do|did|can|could|"
    rf"would|will|should|must|may)\s+{_ADVERBS}not\b|cannot\b|can be (?:ruled out|eliminated|excluded)|"
    r"fails?\b|contradicts?\b|lacks?\b|"
    r"[:([\]),-]*\s*[:(-]+\s*(?:not(?!\s+[(\[]?[b-z]\b|\s+[(\[]a[)\]]|\s+a\s*(?:$|[.,;]))\b|"
    r"no\b(?!\s+doubt)|incorrect|wrong|false|nope|✗|✘|❌|✕|×|eliminated|ruled out|doesn't|isn't|unlikely|"
    r"falsch|faux|falso|incorrect[oa]|errad[oa]|sbagliat[oa]|нет|неверно|错|不)"
    r"|[)\]]?\s*[✗✘❌✕]|[)\].]?\s*\|\s*(?:no|wrong|incorrect|false|nein|non|нет|[✗✘❌✕])\s*(?:\||$)"
    r"|(?:ist|sind)\s+(?:\w+\s+)?(?:falsch|nicht|inkorrekt|ausgeschlossen)|stimmt nicht|passt nicht|"
    r"scheidet aus|(?:est|sont)\s+(?:fau(?:x|sse)|incorrecte?|pas|éliminée?)|n'est|ne correspond|"
    r"(?:es|son|está)\s+(?:incorrect[oa]|fals[oa]|erróne[oa])|no\s+(?:es|corresponde|coincide|puede)|(?:è|"
    r"sono)\s+(?:sbagliat|errat|fals|incorrett)|non\s+(?:è|corrisponde|può)|"
    r"(?:é|está|são)\s+(?:errad|incorret|fals)|não\s+(?:é|está|corresponde|pode)|(?:-\s*)?(?:невер|"
    r"неправильн|не |ошиб)|"
    r"(?:选项|項|项)?(?:都|的描述|说法|也|明显|则)?(?:是)?(?:错|不|有误|排除|可以排除|被排除|无关)|"
    r"(?:は|が|も)?(?:間違|誤り|違|不正解|正しくな|適切で(?:は)?な|では(?:な|ありません)|じゃな)|(?:은|는|이|가|도)?\s*(?:틀|아니|아닙|아닌|오답))"
)
"""Denies what precedes: "is wrong", ": no,", "不对"."""

_GOOD = (
    r"(?:correct|right|true|accurate|more (?:likely|plausible|probable)|answer|match|best|better|closest|winner|"
    r"solution|(?<=(?:most|best|"
    r"tter|ight|rect|only)\s)\w+)"
)
CONFIRMED_AFTER = Pattern(
    rf"\s*(?:{_ANSWERED}(?:{_YES})(?![a-z\u0400-\u04ff])|(?:,\s*)?{_BE}{_ADVERBS}(?:(?:the|my|our|your)\s+)?(?:(?:most|only|best|better|correct|right|"
    rf"final|single|clear|obvious|logical|closest|intended|overall)\s+){{0,3}}{_GOOD}\b(?!\s+not\b)"
    rf"|[)\].]*\s*(?:yes|ja|oui|sí|да|correct|right|true)\b(?=\s*(?:$|[.,;(\n]))"
    rf"|{_ADVERBS}(?:best |accurately |correctly |perfectly |closely |exactly )*(?:match(?:es)?|fits?|"
    r"corresponds?|describes?|represents?|works?|aligns?|wins|it is|is it|is best)\b"
    r"|would be my (?:choice|pick|answer|guess)|(?:tippen|wählen|nehmen|entscheiden|raten|setzen)\b|,?\s*final answer"
    r"|[)\],]*\s*[:(-]+\s*(?:this (?:\w+ )?(?:matches|is (?:the )?(?:correct|right))|"
    r"(?:this is )?(?:the )?(?:correct|right|true|matches)\b(?!\s+not)|yes\b|✓|✔|✅|richtig|korrekt|vrai|"
    r"correct[oa]|corrett[oa]|corret[oa]|верно|正确|正確|对)"
    r"|[)\]]?\s*[✓✔✅]|[)\].]?\s*\|\s*(?:yes|right|correct|true|ja|oui|sí|да|[✓✔✅])\s*(?:\||$)"
    r"|(?:ist|wäre|stimmt|passt|scheint)\b(?:\s+(?:die|das|der|meine|am|ja|also|wohl|"
    r"eindeutig))*(?:\s*(?:richtig|korrekt|beste|antwort|lösung|wahl|passend))?"
    r"|sind\s+(?:beide\s+)?(?:richtig|korrekt)"
    r"|est\s+(?:la |le |ma |bien )*(?:bonne|correcte?|réponse|meilleure?|juste|exacte?|vraie?)|correspond\b"
    r"|(?:es|sería)\s+(?:la |el |mi )*(?:correct[oa]|respuesta|opción|mejor|verdader[oa])|(?:è|"
    r"sarebbe)\s+(?:la |il |l'|quella )*(?:corrett[oa]|risposta|opzione|giust[oa]|miglior\w*)"
    r"|(?:é|está|seria)\s+(?:a |o )*(?:corret[oa]|resposta|opção|cert[oa]|melhor)|"
    r"(?:-\s*)?(?:(?:является\s+)?(?:верн|правильн))"
    r"|(?:选项|項|项)?(?:是|为|才是|就是)?(?:最)?(?:正确|正確|对的|对(?!应|于|比)|答案|符合|合适|恰当)"
    r"|(?:が|は|を|と)?(?:最も)?(?:正解|正しい|答え|適切(?!で)|選び|選択|思います|考え)|です|だと思"
    r"|(?:번)?(?:이|가|를|을|은|는)?\s*(?:정답|맞|올바|적절|선택|고르|답입)|입니다|이에요|예요)"
)
"""Confirms what precedes: "is the correct answer", "matches", "正确", "が正解"."""

DOUBTED_BEFORE = Pattern(
    rf"\b(?:if|whether|unless|suppose|supposing|wenn|ob|falls|si|se|если)\b[^.,;:!?\n]{{0,80}}$"
    r"|\b(?:initially|at first|at first glance|originally|first thought|first guess|appear at first|"
    r"my initial|previously|zuerst|d'abord|al principio|inicialmente|auf den ersten blick|à première vue|"
    r"a primera vista|a prima vista|à primeira vista|на первый взгляд)\b(?:(?!\b(?:but|however|though|aber|"
    rf"mais|pero|ma|mas)\b)[^.;!?\n]){{0,100}}$"
    r"|\b(?:erst|zuerst|zunächst|anfangs|primero|d'abord|au début|prima|primeiro|сначала|вначале)\b[^.;!?\n]{0,30}"
    r"\b(?:dachte|glaubte|pensé|creí|pensaba|creía|pensais|cru|pensato|pensei|думала?|подумала?|решила?)\b"
    r"[^.,;!?\n]{0,20}$"
    r"|\b(?:one might|some might|some may|someone might|people (?:might|may)|you might|"
    r"you may|might think|may think|tempted|tempting)\b[^.,;!?\n]{0,80}$"
    r"|\b(?:although|though|while|whereas|despite|obwohl|bien que|aunque|sebbene|embora|хотя)\b[^.,;!?\n]{0,60}$"
    r"|\b(?:could|might|may|can|könnte|pourrait|podría|potrebbe|poderia)\s+(?:also\s+|possibly\s+|"
    rf"well\s+)*(?:be|sein|être|ser|essere)\b{_FILL}$"
    r"|\b(?:possibly|perhaps|maybe|consider(?:ing)?|check(?:ing)?|let's (?:see|check|look at|examine)|"
    r"looking at|look at|compar(?:e|ing)|evaluat(?:e|ing)|regarding|about|examin(?:e|ing)|vielleicht|"
    rf"peut-être|quizás?|forse|talvez)\b{_FILL}$"
    r"|(?:如果|假如|可能是|一开始|起初|最初)[^,。\n]{0,20}$|처음[^,。\n]{0,6}$"
)
"""Only considers what follows: "if the answer were", "at first I thought", "it could be"."""
DOUBTED_AFTER = Pattern(
    r"\s*,?\s*(?:if|unless)\b|\s+or\s+(?:maybe|perhaps|possibly)\b"
    rf"|\s*\?(?![\s\"'*]*(?:{_YES})(?![a-z\u0400-\u04ff]))"
)
SUPPOSED_BEFORE = Pattern(r"\b(?:if|unless|suppose|supposing) (?!i\b|we\b|you\b|\w+ed\b)[^.,;:!?\n]{0,80}$")
"""Says what would follow if the option were right."""
OTHER_SIDE_BEFORE = Pattern(rf"\b(?:than|unlike|compared (?:to|with)){_FILL_CLOSE}$")
"""What follows is only what the subject is compared with: "bigger than"."""
COMPARED_BEFORE = Pattern(
    r"(?:\b(?:between|either|both|among|versus|vs|than|besides|unlike|and|options are|choices are|options|"
    rf"choices)\b|比){_FILL_CLOSE}$"
)
"""Compares what follows with other options."""

FINAL_BEFORE = Pattern(
    r"\b(?:final|finally|therefore|thus|so|hence|conclusion|conclude|overall|ultimately|consequently|best|"
    r"answer\s*:)|因此|所以|最终|综上|故|よって|したがって|따라서|최종|donc|daher|also|"
    r"por (?:lo )?tanto|quindi|portanto|поэтому|итак"
)
"""Marks a conclusion."""

RECONSIDERED = Pattern(
    r"\b(?:wait|actually|however|hmm+|correction|on second thought|but|nope|scratch that|strike that|"
    r"sorry|apologi[sz]e|apologies|"
    r"re-?(?:check|examin|consider|evaluat|assess|count|read|think|visit|look)\w*|looking again|"
    r"look again|looking closer|look closer|upon closer|on closer|"
    r"closer (?:look|inspection)|let me (?:check|verify|double|look|think|correct)|double.?check\w*|"
    r"verify|verifying|mistake\w*|mistaken|revis(?:e|ed|ing)|"
    r"changed? my mind|instead|rather|in fact|oops|moment|warte|eigentlich|doch|korrektur|attends?|"
    r"attendez|en fait|en réalité|espera|en realidad|mejor dicho|"
    r"aspetta|in realtà|anzi|na verdade|espere|подождите|постойте|на самом деле|точнее)\b"
    r"|\b(?:no|nein|non|não|нет), "
    r"|\bedit:|\b(?:perdón|pardon|korrektur|corrección|correzione|correção|исправл\w+|plutôt)\b"
    r"|不对|等等|等一下|重新|更正|纠正|仔细|再看|实际上|其实|いや|待って|実際|やはり|잠깐|아니|사실"
)
"""A change of mind between two declarations."""

INSISTS = Pattern(r"\b(?:my|final|correct|best)\s+(?:and\s+)?(?:\w+\s+)?(?:answer|choice|conclusion)\b|最终|最終|최종")
"""Announces another answer to the same question: "Final answer:"."""

WITHDRAWN = Pattern(
    r"\b(?:that|this|it|which|my answer|the above)(?:'s| is| was| would be| can't be| cannot be)(?: also|"
    r" actually| clearly| probably| just)* (?:wrong|incorrect|not right|not correct|not quite right|"
    r"a mistake|mistaken|an error|false)\b"
    r"|\bi (?:take (?:it|that) back|was wrong|am wrong|made (?:a mistake|an error)|misread|misspoke|"
    r"retract)|\b(?:scratch|strike|ignore|disregard|forget) (?:that|the above|my)\b"
    r"|\b(?:wait|actually|hold on|hmm+)\b[^\n]{0,80}\b(?:cannot|can't|unable|impossible|not sure|"
    r"unsure)\b|\bsorry, (?:no|that)\b|\b(?:cannot|can't|unable to) (?:provide|give) (?:an?|any|"
    r"the) (?:\w+ )?answer|\b(?:cannot|can't) answer\b|不对|我错了|撤回"
)
UNSETTLED = Pattern(r"\b(?:wait|hold on|hmm+|no, wait|on second thought)\b|等等|等一下")
SETTLED = Pattern(r"\b(?:yes|confirm\w*|indeed|still|stands?|right|correct|stick\w*)\b|确认|没错")

REFUSED = Pattern(
    r"\b(?:can(?:no|')?t|can not|could(?: not|n't)|(?:am|is|are) not able to|unable to|not possible to|"
    r"impossible to|difficult to|hard to|don't|do not|didn't|did not)\s+(?:\w+\s+){0,3}?"
    r"(?:help|assist|determine|tell|identify|answer|see|read|find|provide|know|say|process|view|access|"
    r"make out|confirm|conclude|decide|choose|select|comply|discern|locate|have (?:enough|sufficient)|"
    r"be (?:determined|answered|identified))\b"
    r"|\b(?:unable to|not enough information|insufficient information|no information|not (?:clear|sure|"
    r"certain|visible|provided)|unclear|unsure|no idea|n/a|unknown|impossible to|without the image|"
    r"no image|not applicable)\b"
    r"|\bnone of (?:the|these|those|them)\b|\b(?:no|neither|not any) (?:of the )?(?:\w+ )?(?:option|"
    r"choice|answer)s?\b|\bfailed to obtain\b|\bi'm sorry\b|\bi am sorry\b|\bsorry, \b|\bi refuse\b|"
    r"\bas an ai\b"
    r"|无法|不能确定|不确定|不知道|抱歉|对不起|以上都不|都不是|没有正确|わかりません|分かりません|判断でき|申し訳|できません|"
    r"알 수 없|모르|죄송|"
    r"\b(?:kann (?:ich )?nicht|kann das nicht|weiß (?:ich )?(?:es )?nicht|tut mir leid|keine der|"
    r"je ne (?:peux|sais)|désolé|aucune des|impossible de|no (?:puedo|sé|se puede)|lo siento|"
    r"ningun[ao] de|non (?:posso|so|è possibile)|mi dispiace|nessuna delle|não (?:posso|sei|consigo|"
    r"é possível)|desculpe|nenhuma das|не (?:могу|знаю)|невозможно|извините|ни один)\b"
)
"""The reply says that it has no answer."""

ALL_OF_THEM = Pattern(
    r"\W*(?:(?:the )?answer(?: is|:)\s*)?all (?:of )?(?:the )?(?:above|them|these|"
    r"(?:four )?(?:options|choices|answers))(?: (?:are|is|seem|could be))?(?: (?:correct|right|true|valid))?\W*"
)
"""A whole reply that names every option at once."""

CONNECTED = Pattern(
    r"[\s,/&;|+*\"']*(?:(?:and|or|nor|und|oder|als auch|et|i|jak i|ainsi que|ou|y|o|e|ed|и|или|"
    r"oraz|lub|ve|veya|và|hoặc|and/or|as well as|option|"
    r"options)\s+)*[\s(\[\"'*]*|[)\]]\s*(?:,|/|and|or|und|oder|et|ou|и|или)\s*|\s*(?:和|或|或者|及|与|と|または|および|와|과|또는)\s*"
)
"""The text between two mentions that form one list."""

ALL_BUT_BEFORE = Pattern(
    r"\b(?:all|everything|every (?:option|choice|answer)|anything|the (?:others|rest))\b[^.;!?\n]{0,20}"
    rf"\b(?:except(?: for)?|but|besides|other than|apart from){_FILL_CLOSE}$"
)
"""Excludes what follows from a statement about all others: "everything except"."""

NEGATED_QUESTION = Pattern(r"\b(?:not|missing|absent|except|lacks?|lacking|never)\b|n't\b")
"""A question that asks for what is not there."""
QUESTION = Pattern(r"\W*(?:is|are|was|could|would|should|does|do|did|which|what|who|why|can|how)\b")
"""Opens a question."""

NEGATION = Pattern(
    r"\b(?:not|no|never|neither|without|cannot|none|isn't|aren't|doesn't|don't|wasn't|can't)\b|n't\b|不|没|未"
)
SUBORDINATE = Pattern(
    r",?\s?\b(?:as|because|since|while|whereas|given|considering|due to|although|though|even though|which|"
    r"where|next to|near|behind|in front of|rather than|unlike|compared)\b"
)
"""The end of a sentence's main statement: reasons or surroundings follow."""
PLANNED = Pattern(
    r"(?:okay|ok|well|alright|first|so)?,?\s?(?:i need to|i'll|i will|let me|let's|let us|we need to|"
    r"to determine|to find|to answer|to identify|looking at|step 1|step by step|first,|"
    r"the question asks|1\.|我需要|首先|让我)"
)
"""The opening of a chain of thought: options named in it are not yet the answer."""
INTENDED = Pattern(
    r"\b(?:need to|let me|let's|let us|we should|i should|i'll|i will|"
    r"must (?:determine|find|look|identify|check|choose))\b"
)
"""A sentence that announces the next step instead of stating a fact."""
OBSERVED = Pattern(
    r"^\W*(?:\d|step\b|in the\b|on the\b|looking\b|first)|\b(?:i|we) (?:can |also )?(?:see|spot|identify|notice)\b"
)
"""A sentence that reports an intermediate observation."""
CONCLUDING = Pattern(
    r"^\W*(?:so|thus|therefore|hence|consequently|in conclusion|conclusion|overall|finally|ultimately|"
    r"in summary|to conclude|(?:this|that|which) (?:only )?leaves|based on|"
    r"this means|that means|it follows|given|also|daher|donc|"
    r"por (?:lo )?tanto|quindi|portanto|所以|因此|综上|故|したがって|よって|따라서|поэтому|итак)"
)
