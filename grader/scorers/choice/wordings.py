"""How replies word a choice between options, beside what `place_wordings` has for every kind of answer.

The patterns are searched in lower-cased text. `*_BEFORE` end where the words of an option begin; `*_AFTER` are matched
where they end.
"""

# Foreign words are what this file is about, and lists of words read best as words.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

from grader.scorers.patterns import Pattern
from grader.scorers.place_wordings import DECLARED, DECLARES, THEREFORE, UNREAL

_FILLERS = (
    "the|an?|options?|choices?|alternative|statement|letter|answer|number|item|clearly|definitely|certainly|likely|"
    "probably|most|simply|obviously|indeed|therefore|thus|actually|just|still|only|really|surely|undoubtedly|best|"
    "correct|right|final|described|given|represented|indicated|by|labell?ed|marked|with|be|to|that|of|for|towards?|"
    "as|follows|it's|is|absolutely|almost|in|on|at|fact|currently|apparently|either|both|between|"
    "die|der|das|dem|eindeutig|wahrscheinlich|wohl|buchstabe|antwort|lautet|nur|klar|"
    "le|la|les|lettre|réponse|donc|clairement|bien|probablement|que|"
    "es|est|ist|è|é|el|opción|letra|claramente|probablemente|alternativa|inciso|lettera|opzione|chiaramente|"
    "probabilmente|opção|provavelmente|o|вариант|под|буквой|буква|ответ|вероятно|скорее|всего|opcja|odpowiedź|optie|"
    f"antwoord|фактически|also|{THEREFORE}"
)
_CJK_FILLERS = (
    "选项|選項|选择|選擇|字母|应该|應該|应|是|为|為|答案|明显|显然|选|選|的|了|選択肢|記号|は|が|선택지|보기|옵션|은|는"
)
FILL = rf"(?:[\s\"'*:,>(\[{{}}=/-]|\b(?:{_FILLERS})\b|(?:{_CJK_FILLERS}))*+"
FILL_START = Pattern(FILL)
"""Words without a meaning of their own between a form and an option."""
_FILL_CLOSE = rf"(?:[\s\"'*(\[{{]|\b(?:{_FILLERS})\b|(?:{_CJK_FILLERS}))*+"

_NOUNS = (
    "choice|option|letter|response|pick|statement|alternative|selection|auswahl|wahl|buchstabe|choix|lettre|opción|"
    "alternativa|letra|elección|opzione|scelta|lettera|opção|escolha|вариант|выбор|буква|opcja|optie|keuze|seçenek|"
    "şık|lựa chọn|phương án|pilihan|richtig|korrekt|la correcta|la bonne|la corretta|a correta|a certa"
)
_LINKS = (
    "is|was|be|becomes|remains|seems|ist|wäre|lautet|est|serait|es|sería|è|sarebbe|é|seria|это|jest|là|adalah|"
    "ialah|är|"
    "er|on|je|este|هي|هو|היא|הוא|είναι|az?"
)
_CHOOSE = (
    "choose|choosing|chose|chosen|select|selecting|selected|pick|picking|picked|go(?:ing)? (?:with|for)|went with|"
    "opt(?:ing|ed)? for|vote(?:s|d)?(?: goes)? (?:for|to)|settl(?:e|ing|ed) (?:on|for)|guess|say(?:ing)?|"
    "answer(?:ing)? with|lean(?:ing)? towards?|favou?r|prefer|conclude|"
    "match(?:es|ed|ing)?(?: with| to)?|correspond(?:s|ed|ing)? (?:to|with)|point(?:s|ing)? to|(?:aligns?|"
    "agrees?)(?: best)? with|"
    "consistent with|closest to|narrow(?:s|ed)? (?:it |this )?down to|"
    "choisis|choisirais|opte pour|dirais|wähle|entscheide mich für|nehme|tippe auf|elijo|escojo|selecciono|opto por|"
    "eligiría|escogería|diría|scelgo|opto per|sceglierei|escolho|seleciono|opto pel[ao]|marco|выбираю|выберу|выбрал|"
    "выбрала|wybieram|kies|seçiyorum|chọn|memilih|pilih|väljer|velger|vælger"
)
_GAP = r"[^.!?;\n。]{0,80}?"
_HEADS = (
    rf"\b(?:{_NOUNS})\b{_GAP}(?:\b(?:{_LINKS})\b|[:=])",
    rf"\banswers?\b{_GAP}(?:\b(?:{_LINKS})\b|[:=])",
    rf"\b(?:{_CHOOSE})\b",
    r"(?:答案|正解|正确选项|正確選項|选项|選項|解答|回答|答え|選択肢)[^,.!?。\n]{0,30}?(?:是|为|為|:|选|選|は|"
    r"が|\s|\])",
    r"(?:选择?|選擇?)(?:项|項|答案)?",
    r"(?:คำตอบ|ข้อ|उत्तर|जवाब|विकल्प|الخيار)[^.!?\n]{0,20}?",
    r"\b(?:answer|ans|antwort|réponse|respuesta|risposta|resposta|ответ|odpowiedź|svar|cevap|cevabı|yanıt|vastaus|"
    r"odpověď|antwoord|đáp án|jawaban(?:nya)?)\b",
    rf"\b(?:correct|best|closest|most (?:likely|appropriate|suitable))\s(?:[\w-]+\s){{0,5}}?(?:{_LINKS})\b",
    r"(?:\[x\]|☑)",
)
FORM_BEFORE = Pattern(
    rf"(?:{DECLARES.pattern}|\b(?:correct|right|best|final|chosen|"
    rf"my)\s+(?:\w+\s+)?(?:{_NOUNS})\b\s*(?:\b(?:{_LINKS})\b|[:=])"
    rf"|{_HEADS[3]}|(?<![\w选選])(?:故|所以)?(?:选择?|選擇?)(?:项|項|答案)?){FILL}$"
)
"""The form of an answer: "the answer is", "correct option:", "答案是"."""
CHOSEN_BEFORE = Pattern(rf"(?:{'|'.join(_HEADS)}){FILL}$")
"""Declares the option that follows: "the answer is", "I choose", "选"."""

_CONCLUSIONS = (
    r"\b(?:so|thus|therefore|hence|ergo|consequently|accordingly|then|finally|overall|ultimately|in conclusion|"
    r"to conclude|in short|in summary|así que|assim|"
    rf"{THEREFORE})\b",
    r"(?:=>|->|→|⇒|∴|所以|因此|故|那么|综上|最终|よって|したがって|なので|だから|따라서|그러므로|그래서|즉)",
    r"\b(?:it|that|this|which)(?:'s| is| was| must be| has to be| should be| would be| seems to be| looks like| "
    r"appears to be)\b",
    r"\b(?:c'est|es ist|das ist|это|to jest|dat is|het is|must be|has to be|should be|gotta be)\b",
    r"\bi(?: do|'d)? (?:think|believe|suppose|reckon|feel|assume)(?: that)?(?: it's| it is| it must be)?",
    r"\b(?:ich (?:denke|glaube|meine)|je (?:pense|crois)(?: que c'est)?|creo que(?: es)?|penso (?:che sia|que é)|"
    r"acho que é|думаю)|我认为|我觉得|我想",
    r"\b(?:most likely|likely|probably|actually|no|wait|correction|corrected|sorry|oops|hmm+|nein|non|nee|нет|perdón|"
    r"korrektur|but|rather|instead|"
    r"however|sondern|mais|plutôt|sino|pero|ma|bensì|mas|sim|а|но)\b",
    r"(?:而是|就是|应该是|应是|应为|是|いや|いえ|아니)",
)
CONCLUDED_BEFORE = Pattern(rf"(?:{'|'.join(_CONCLUSIONS)}){FILL}$")
"""Concludes with the option that follows, if it ends its clause: "so B.", "but B"."""
CLAUSE_END = Pattern(
    r"[\s\"'*)\]}]*(?:$|[.,;!\n。]|[:(-]\s*(?!\w*\s*(?:no|not)\b)|(?:because|since|as|for|due|given|weil|car|parce|"
    r"porque|perché)\b|因为|です|だ(?!\w)|입니다|이다|이에요|吧|了)"
)

_BE = (
    r"(?:(?:is|are|was|were|seems?|appears?|looks?|would be|must be|should be|could be|has to be|to be|remains?|"
    r"'s)\s+)"
)
_ADVERBS = (
    r"(?:(?:also|clearly|definitely|certainly|therefore|thus|actually|simply|just|obviously|likely|probably|most|"
    r"really|indeed|both|all|too|completely|then|hence)\s+)*"
)
_NO = "no|nope|nah|nein|nicht|non|nee|não|нет|لا|नहीं|いいえ|違|아니|不是|不对|不|否|没有|错"
_YES = "yes|yep|yeah|correct|right|ja|oui|sí|si|sì|sim|да|верно|نعم|हाँ|हां|はい|そう|네|예|맞|是|对|正确|没错"
_ASKED = r"[\"'*)\]]*\?[\s\"'*]*"
_GOOD = (
    r"(?:correct|right|accurate|more (?:likely|plausible|probable)|answer|match|best|better|closest|winner|"
    r"solution|(?<=(?:most|best|tter|ight|rect|only)\s)\w+)"
)
CHOSEN_AFTER = Pattern(
    rf"{DECLARED.pattern}|\s*(?:{_ASKED}(?:{_YES})(?![a-z\u0400-\u04ff])"
    rf"|(?:,\s*)?{_BE}{_ADVERBS}(?:(?:the|my|our|your)\s+)?(?:(?:most|only|best|better|correct|right|final|single|"
    rf"clear|obvious|logical|closest|intended|overall)\s+){{0,3}}{_GOOD}\b(?!\s+not\b)"
    r"|[)\].]*\s*(?:yes|ja|oui|sí|да|correct|right)\b(?=\s*(?:$|[.,;(\n]))"
    rf"|(?:as\s+)?(?:the\s+)(?:only\s+|most\s+)?(?:correct|right|best)\s+(?:answer|choice|option)\b"
    rf"|{_ADVERBS}(?:best |accurately |correctly |perfectly |closely |exactly )*(?:match(?:es)?|fits?|corresponds?|"
    r"describes?|represents?|works?|aligns?|wins|it is|is it)\b"
    r"|would be my (?:choice|pick|answer|guess)|(?:tippen|wählen|nehmen|entscheiden|raten|setzen)\b|,?\s*final answer"
    r"|[)\],]*\s*[:(-]+\s*(?:this (?:\w+ )?(?:matches|is (?:the )?(?:correct|right))|(?:this is )?(?:the )?"
    r"(?:correct|right|matches)\b(?!\s+not)|yes\b|✓|✔|✅|richtig|korrekt|vrai|corrett?[oa]|верно|正确|正確|对)"
    r"|[)\]]?\s*[✓✔✅]|[)\].]?\s*\|\s*(?:yes|right|correct|true|ja|oui|sí|да|[✓✔✅])\s*(?:\||$)"
    r"|(?:ist|wäre|stimmt|passt|scheint)\b(?:\s+(?:die|das|der|meine|am|ja|also|wohl|eindeutig))*\s*(?:richtig|"
    r"korrekt|beste|antwort|lösung|wahl|passend)"
    r"|est\s+(?:la |le |ma |bien )*(?:bonne|correcte?|réponse|meilleure?|juste|exacte?|vraie?)"
    r"|(?:es|sería)\s+(?:la |el |mi )*(?:correct[oa]|respuesta|opción|mejor|verdader[oa])"
    r"|(?:è|sarebbe)\s+(?:la |il |l'|quella )*(?:corrett[oa]|risposta|opzione|giust[oa]|miglior\w*)"
    r"|(?:é|está|seria)\s+(?:a |o )*(?:corret[oa]|resposta|opção|cert[oa]|melhor)|"
    r"(?:-\s*)?(?:(?:является\s+)?(?:верн|"
    r"правильн))"
    r"|(?:选项|項|项)?(?:是|为|才是|就是)?(?:最)?(?:正确|正確|对的|对(?!应|于|比)|答案|符合|合适|恰当)"
    r"|(?:が|は|を|と)?(?:最も)?(?:正解|正しい|答え|適切(?!で)|選び|選択|思います|考え)|です|だと思"
    r"|(?:번)?(?:이|가|를|을|은|는)?\s*(?:정답|맞|올바|적절|선택|고르|답입)|입니다|이에요|예요)"
)
"""Declares the option before it: "is the correct answer", "matches", "正确"."""

_NOT = (
    r"not|never|neither|none of|nor|weder|noch|ni|né|nem|ani|cannot be|except|excluding|without|rather than|"
    r"instead of|"
    r"as opposed to|rul(?:e|es|ed|ing) out|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|reject(?:s|ed|ing)?|"
    r"discard(?:s|ed|ing)?|dismiss(?:es|ed|ing)?|nicht|kein|keine|statt|pas|non|no es|no|nunca|não|em vez de|"
    r"en lugar de|invece di|не|кроме|nie|niet|inte|ikke|değil"
)
DENIED_BEFORE = Pattern(
    rf"(?:\b(?:{_NOT})\b|n't(?: be)?\b|(?:\bwrong|\bincorrect|\bfalse)(?: answer| option| choice)?s?(?: is| are|:)"
    rf"|不是|并非|非|不选|排除|而非|除了|错误的是|\[ \]|☐|❌){_FILL_CLOSE}$"
    r"|(?:\bnot|n't|\bnever|\bcannot)\s+(?:\w+\s+){0,2}?(?:think|believe|say|mean|match|correspond|fit|choose|select|"
    r"pick|support|agree|go)\b[^.,;!?\n]{0,60}$"
)
"""Denies what follows: "not", "rule out", "不是"."""
DENIED_AFTER = Pattern(
    rf"(?:[,.]?[\"']\s?)?\s*(?:{_ASKED}(?:{_NO})(?![a-z\u0400-\u04ff])"
    r"|[)\].]*\s*(?:no|nope|nein|non|нет|wrong|incorrect|false)\b(?=\s*(?:$|[.,;(\n]))"
    rf"|{_BE}{_ADVERBS}(?:not\b|n't|wrong|incorrect|false|invalid|out\b|eliminated|ruled out|excluded|rejected|"
    r"discarded|impossible|unlikely|inaccurate|irrelevant|unsupported|too\s+\w+|(?:an?|the)\s+(?:\w+ )?(?:distractor|"
    r"wrong|incorrect|decoy|trap|mis(?:take|match|conception|reading)\w*|mistake|error))"
    rf"|(?:is|are|was|were|does|do|did|would|could|ca|has|have|wo|should)n't\b|(?:does|do|did|can|could|would|will|"
    rf"should|must|may)\s+{_ADVERBS}not\b|cannot\b|can be (?:ruled out|eliminated|excluded)|fails?\b|contradicts?\b"
    r"|[:([\]),-]*\s*[:(-]+\s*(?:not(?!\s+[(\[]?[b-z]\b|\s+[(\[]a[)\]]|\s+a\s*(?:$|[.,;]))\b|no\b(?!\s+doubt)|"
    r"incorrect|wrong|false|nope|✗|✘|❌|✕|×|eliminated|ruled out|doesn't|isn't|unlikely|falsch|faux|falso|"
    r"incorrect[oa]|"
    r"errad[oa]|sbagliat[oa]|нет|неверно|错|不)"
    r"|[)\]]?\s*[✗✘❌✕]|[)\].]?\s*\|\s*(?:no|wrong|incorrect|false|nein|non|нет|[✗✘❌✕])\s*(?:\||$)"
    r"|(?:ist|sind)\s+(?:\w+\s+)?(?:falsch|nicht|inkorrekt)|stimmt nicht|passt nicht|(?:est|sont)\s+(?:fau(?:x|sse)|"
    r"incorrecte?|pas)|n'est|ne correspond|(?:es|son)\s+(?:incorrect[oa]|fals[oa])|no\s+(?:es|corresponde|puede)|"
    r"(?:è|sono)\s+(?:sbagliat|errat|fals)|non\s+(?:è|corrisponde)|(?:é|está)\s+(?:errad|incorret|fals)|"
    r"não\s+(?:é|está|corresponde)|(?:-\s*)?(?:невер|неправильн|не |ошиб)"
    r"|(?:选项|項|项)?(?:都|的描述|说法|也|明显|则)?(?:是)?(?:错|不|有误|排除|被排除)"
    r"|(?:は|が|も)?(?:間違|誤り|違|不正解|正しくな|では(?:な|ありません)|じゃな)|(?:은|는|이|가|도)?\s*(?:틀|"
    r"아니|아닙|아닌|오답))"
)
"""Denies what precedes: "is wrong", ": no,", "不对"."""

DOUBTED_BEFORE = Pattern(
    rf"{UNREAL}\bwould(?: have been| be)\b{FILL}$"
    r"|\b(?:if|whether|unless|suppose|supposing|wenn|ob|falls|si|se|если)\b[^.,;:!?\n]{0,80}$"
    r"|\b(?:initially|at first|at first glance|originally|first thought|first guess|my initial|previously|d'abord|"
    r"al principio|inicialmente|auf den ersten blick|à première vue|a primera vista|a prima vista|à primeira vista|"
    r"на первый взгляд)\b[^.;!?\n]{0,100}$"
    r"|\b(?:zuerst|zunächst|anfangs|primero|au début|prima|primeiro|сначала|вначале)\b"
    r"[^.;!?\n]{0,50}$"
    r"|\b(?:one might|some might|some may|people (?:might|may)|many people|you might|might think|may think|tempted|"
    r"tempting)\b[^.,;!?\n]{0,80}$"
    r"|\b(?:although|though|while|whereas|despite|obwohl|bien que|aunque|sebbene|embora|хотя)\b[^.,;!?\n]{0,60}$"
    rf"|\b(?:could|might|may|can|könnte|pourrait|podría|potrebbe|poderia)\s+(?:also\s+|possibly\s+|"
    rf"well\s+)*(?:be|sein|"
    rf"être|ser|essere)\b{_FILL_CLOSE}$"
    r"|\b(?:possibly|perhaps|maybe|consider(?:ing)?|check(?:ing)?|looking at|look at|compar(?:e|ing)|"
    r"evaluat(?:e|ing)|"
    rf"regarding|start(?:ing)? with|begin(?:ning)? with|examin(?:e|ing)|vielleicht|peut-être|quizás?|forse|"
    rf"talvez)\b{_FILL_CLOSE}$"
    r"|\b(?:in contrast(?: to)?|by contrast|conversely|on the other hand)\b[^.;!?\n]{0,40}$"
    r"|\bthan (?:the )?(?:[\w-]+ ){0,3}$"
    rf"|\b(?:than|unlike|(?:differs?|different|distinct) from|compared (?:to|with)|next to|near|beside|"
    rf"behind)\b{_FILL_CLOSE}$"
    r"|(?:如果|假如|可能是|一开始|起初|最初)[^,。\n]{0,20}$|처음[^,。\n]{0,6}$"
)
"""Only considers what follows, or compares with it: "if it were", "at first I thought", "it could be", "than"."""
BUT = Pattern(r"\b(?:but|however|aber|mais|pero|ma|mas|но)\b")
"""Words that end a doubt."""
DOUBTED_AFTER = Pattern(
    r"\s*,\s*(?:on the other hand|in (?:contrast|comparison)|by contrast|meanwhile|conversely|while|whereas)\b|"
    rf"\s*,?\s*(?:if|unless)\b|\s+(?:or\s+)?(?:maybe|perhaps)\b|\s*\?(?![\s\"'*]*(?:{_YES})(?![a-z\u0400-\u04ff]))"
)

CONNECTED = Pattern(
    r"[\s,/&;|+*\"']*(?:(?:and|or|nor|und|oder|als auch|et|i|jak i|ainsi que|ou|y|o|e|ed|и|или|oraz|lub|ve|veya|và|"
    r"hoặc|"
    r"and/or|as well as|soit|options?)\s+)*[\s(\[\"'*]*|[)\]]\s*(?:,|/|and|or|und|oder|et|ou|и|или)\s*|"
    r"\s*(?:和|或|或者|及|与|と|または|および|와|과|또는)\s*"
)
"""The text between two options that form one list."""
RANKED = Pattern(r"\s*[)\]]?\s*(?:-{0,2}[>≥<≻]|→)\s*[(\[]?")
"""The text between two options of a ranking."""

RECONSIDERED = Pattern(
    r"\b(?:wait|actually|however|hmm+|correction|on second thought|but|nope|scratch that|strike that|sorry|"
    r"apologi[sz]e|"
    r"apologies|re-?(?:check|examin|consider|evaluat|assess|count|read|think|visit|look)\w*|look(?:ing)? (?:again|"
    r"closer)|"
    r"(?:up)?on closer|closer (?:look|inspection)|let me (?:check|verify|double|look|think|correct)|double.?check\w*|"
    r"verify|verifying|mistake\w*|mistaken|revis(?:e|ed|ing)|changed? my mind|instead|in fact|oops|moment|warte|"
    r"eigentlich|doch|korrektur|attends?|attendez|en fait|en réalité|espera|en realidad|mejor dicho|aspetta|in "
    r"realtà|"
    r"anzi|na verdade|espere|подождите|постойте|на самом деле|точнее|edit(?=:)|perdón|pardon|corrección|correzione|"
    r"correção|исправл\w+|plutôt)\b|\b(?:no|nein|non|não|"
    r"нет), |不对|等等|等一下|重新|更正|纠正|仔细|再看|实际上|其实|いや|待って|"
    r"実際|やはり|잠깐|아니|사실"
)
"""A change of mind between two declarations."""
REASON = Pattern(r"[^.!?\n]*\b(?:because|since|as|weil|da|car|parce|porque|perché)\b[^.!?\n]*|[^.!?\n]*因为[^.!?\n]*")
"""The text between an answer and an option that only its reason names."""
ONLY_FINAL = Pattern(r"\W*(?:(?:final|answer|my|the|is|so|thus|therefore|correct)\W+)*$")
"""Only says that an answer follows."""
WITHDRAWN = Pattern(
    r"\b(?:that|this|it|which|my answer|the above)(?:'s| is| was| would be| can't be| cannot be)(?: also| actually| "
    r"clearly| probably| just)* (?:wrong|incorrect|not right|not correct|not quite right|a mistake|mistaken|an error|"
    r"false)\b|\bi (?:take (?:it|that) back|was wrong|am wrong|made (?:a mistake|an error)|misread|misspoke|retract)|"
    r"\b(?:scratch|strike|ignore|disregard|forget) (?:that|the above|my)\b|\bsorry, (?:no|that)\b|不对|我错了|撤回"
)
"""Withdraws what was declared before."""
CONCLUDES = Pattern(
    r"\W*(?:so|thus|therefore|hence|consequently|in conclusion|conclusion|overall|finally|ultimately|in summary|"
    r"to conclude|(?:this|that|which) (?:only )?leaves|based on|this means|given|also|daher|donc|por (?:lo )?tanto|"
    r"quindi|portanto|поэтому|итак)\b|\W*(?:所以|因此|综上|故|したがって|よって|따라서)"
    r"|[^.!?\n]*(?:\b(?:therefore|thus|hence|closest|best|most likely)\b|[,;] so\b)"
)
"""A sentence that concludes."""
IS_ANSWER = Pattern(r"[^.!?\n]{0,40}\b(?:answer|choice|option|solution)\b")
NEGATED_QUESTION = Pattern(r"\b(?:not|except|false|incorrect|wrong|untrue)\b|n't\b|不")
"""A question that asks for what is not so."""
NONE_FITS = Pattern(
    r"(?<!\bnot )\bnone of\b|\bneither of\b|"
    r"\bno (?:option|choice|answer|alternative)s?\b[^.\n]{0,20}\b(?:is|are|fits?|match|"
    r"correct)|"
    r"以上都不|都不是|没有正确"
)
"""A reply in which no option is right."""
NONE_OPTION = Pattern(r"^\W*(?:none|neither|nothing|no (?:option|answer|choice))\b|\bnone of\b|以上都不|都不是")
VERBS = frozenset(
    "is isn't was are aren't would should must can cannot can't could does doesn't has have seems appears looks "
    "matches match fits fit describes depicts shows represents corresponds because since and or but nor not it "
    "though although might may will remains works indicates refers contains states mentions says makes suggests "
    "gives as for which with best correctly clearly most correct right wrong incorrect only too here rather over "
    "than if due given based in from instead again to ist wäre weil und oder aber passt stimmt nein ja est et ou "
    "car parce semble mais es y o porque corresponde parece pero è perché corrisponde é e ou и или верно верный "
    "правильный oraz lub i ve veya đều và hoặc maybe final answer şıkkı tippen wählen nehmen".split()
)
"""What can follow a letter that is an option."""

NOUN_BEFORE = Pattern(r"(?:the )?(?:options?|choice|point|image|picture|box|region|statement|letter)[\s\"'(*]*$")
"""The noun of an option before its letter."""
DENIED_LATER = Pattern(
    r"(?:(?!\b(?:because|since|as|but|so)\b)[^.;!?\n]){0,140}?\b(?:(?:does|do|did|would|is|are|was|could|"
    r"can)(?: not|n't)\b|cannot\b|"
    r"lacks?\b|differs?\b|too (?:large|small|big|wide|loose|tight|high|low|broad)\b|less likely\b|unlikely\b)"
)
"""Denies an option later in its sentence: "the second image shows a table, which does not fit"."""
VERDICTS = Pattern(
    r"^[ \t*+>#-]{0,12}(?P<before>[✓✔✅✗✘❌✕] ?)?[(\[]?(?P<letter>[a-z])(?:[).:\]]|(?= [✓✔✅✗✘❌✕]))[^\n]*$", 8
)
RIGHT = Pattern(r"[✓✔✅]|\b(?:true|correct|right|yes)\b[.!) *]*$")
WRONG = Pattern(r"[✗✘❌✕]|\b(?:false|incorrect|wrong|no|not (?:true|correct|right))\b[.!) *]*$")
"""A line that judges an option."""
