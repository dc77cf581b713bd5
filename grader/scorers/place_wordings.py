"""How replies word a declaration, its revision, a refusal and a courtesy, in the languages at hand: one table.

The patterns are searched in lower-cased text.
"""

# Foreign words are what this file is about, and lists of words read best as words.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

from grader.scorers.patterns import Pattern

_NOUNS = (
    "answers?(?! (?:choices|options))|ans|(?:the|my|final) solution|verdict|conclusion(?! that)|guess|"
    r"(?:correct|right|best|final|chosen|my)\s(?:\w+\s)?(?:choice|option|statement|letter|selection|pick)|"
    "antwort|lösung|ergebnis|réponse|résultat|respuesta|resultado|risposta|resposta|ответ|відповідь|"
    "odpowiedź|odpověď|antwoord|svaret|svar|vastaus|răspunsul|răspuns|válasz|απάντηση|cevap|cevabı|yanıt|"
    "đáp án|câu trả lời|jawaban(?:nya)?|jawapan"
)
_LINKS = (
    "is|was|are|be|becomes|equals|ist|lautet|wäre|est|serait|es|sería|è|sarebbe|é|seria|это|będzie|jest|je|"
    "är|este|είναι|là|adalah|ialah|says"
)
THEREFORE = (
    r"daher|deshalb|somit|demnach|folglich|donc|ainsi|por (?:lo )?tanto|entonces|quindi|dunque|perciò|pertanto|"
    r"portanto|logo|então|поэтому|значит|следовательно|итак|dus|więc"
)
"""Words that conclude, in other languages than English."""
_BARE_NOUNS = (  # their languages put no verb, or one that is a letter, between the noun and the answer
    r"(?:答案|正解|正答|答え|解答|回答|答)[^,.!?。\n]{0,12}?(?:是|为|為|:|选|選|は|=|が)\s*(?:应该是|選項|选项|"
    r"选择|选)?",
    r"(?:정답|답변|답|해답)(?:은|는|이|:)",
    r"(?:الإجابة|الاجابة|الجواب|جواب|پاسخ)(?:\s+(?!هي|هو)\w+){0,2}?(?:\s*:|\s+(?:هي|هو|است)|(?=\s*\d))",
    r"התשובה(?:\s+\w+)?(?:\s*:|\s+היא|\s+הוא)",
    r"(?:उत्तर|जवाब)(?:\s*:|(?=\s*\S))",
    r"คำตอบ\s*(?:คือ|:)",
)
DECLARES = Pattern(
    rf"(?<!can )(?<!could )(?<!to )\b(?:{_NOUNS})\b(?:['\u2019]s)?(?:[ \t]*\((?!.\))[^()\n]{{0,40}}\))?"
    rf"(?:[ \t]+(?!(?:{_LINKS}|not|cannot|can't|never)\b|"
    rf"\(?.\))[\w'()-]+){{0,6}}?"
    rf"(?:[\s*_\"`]*(?:[:=]|[-=]+>|→)|[*_\"`]*\s+-{{1,2}}(?=\s)|\s+(?:(?:would|should|must|will|can|has to|"
    rf"seems to|appears to)\s+)?"
    rf"(?:{_LINKS})(?!\w|n't)(?:[ \t]*:)?|[ \t]*(?:[*_]{{1,3}}[ \t]*)?\n)"
    rf"|{'|'.join(_BARE_NOUNS)}"
)
"""Declares what stands behind it to be the answer: "the answer is", "Ответ:", "答案是"."""
DECLARED = Pattern(
    r"\b(?:is|are|was|would be|must be) (?:therefore |thus |also |likely )?(?:the|my|our) (?:(?:final|correct|"
    r"right|best) ){0,2}"
    r"(?:answer|solution|choice|result|option|one)\b(?! (?:to|of|for)\b)"
    r"|(?:が|は|を)\s?(?:正解|答え)(?:です|だ|である|となります)|[이가] ?정답"
)
"""Declares what stands before it: "is the answer", "が正解です"."""

FINAL = Pattern(
    r"(?:\b(?:final(?:ly)?|corrected|correction|updated|revised|amended|definitive|endgültige?|korrigierte?|finale?|"
    r"définitive|corrigée|corregida|definitiva|corretta|corrigida|окончательный|исправленный|итоговый)\b|"
    r"最终|最終|更正|修正|최종|수정된|النهائية)[^.!?:\n。]{0,20}$"
)
"""Before a declaration: it replaces the others."""
INITIAL = Pattern(
    r"(?:\b(?:initial(?:ly)?|first|preliminary|tentative|original(?:ly)?|previous(?:ly)?|earlier|old|wrong|erste|"
    r"vorläufige|première|initiale?|primera|inicial|prima|первоначальный|предыдущий)\b|最初|初步|初始|처음|초기)"
    r"[^.!?:\n。]{0,20}$"
)
"""Before a declaration: others replace it."""
SUPPOSED = Pattern(
    r"(?:\b(?:if|whether|unless|suppose|supposing|assum(?:e|ing)|wenn|falls|si|se|если)\b"
    r"(?:(?!\b(?:then|so)\b)[^.,;:!?\n]){0,40}|如果[^,。\n]{0,20}|\b(?:in|with|of) (?:your|an?|each|the) )$"
)
"""Before a declaration: it only considers, asks, or speaks of a form ("in your answer: ...")."""
UNREAL = (
    r"(?:\bif\b(?! (?:i|we|you|one)\b)[^.!?;\n]{0,60}\b(?:were|was|had|did|is|are)\b|(?:^|[.!?;\n])\W{0,3}(?:had|"
    r"otherwise)\b)(?:(?!\bbut\b)[^.!?;\n]){0,80}"
)
"""Before "would be": a condition that is not met. "If I had to guess" is none."""
UNREAL_BEFORE = Pattern(rf"{UNREAL}$")
DENIED = Pattern(r"\W*(?:not\b|n't\b|never\b|nicht\b|kein|pas\b|no es\b|non è|não é|не\b|不是|并非|아니|ليس)")
"""The beginning of a content that is denied."""
DENIED_IN = Pattern(r"[\W_]{0,4}\w{1,12}\W{1,3}is (?:wrong|incorrect|false|not (?:right|correct|the answer))\b")
"""A content that is denied at once: "[No] is incorrect"."""


def is_denied(content: str) -> bool:
    """Whether the words of a claim deny it."""
    return bool(DENIED.match(content) or DENIED_IN.match(content))


WITHDRAWS = Pattern(
    r"(?:^|[.!?\n:;)\u2026*-])[\s*_(]{0,4}(?:(?:oh|no|but|hm{1,9}|um|ah|well|so|and|okay|ok|"
    r"actually)\b[\s,.\u2026]{0,4}){0,3}"
    r"(?:wait\b(?! (?:time|list|for|until|staff))|correction\b|hold on\b|scratch that|strike that|oops\b|"
    r"on second thoughts?\b|"
    r"actually, (?:no|that|this|i|let)|sorry, (?:no|that|i (?:made|mis))|my mistake|i (?:made|see|found) (?:a|"
    r"an|my) (?:mistake|error)|"
    r"i (?:was|am) (?:wrong|mistaken)|i (?:misread|misspoke|take (?:it|that) back)|(?:that|this)(?:'s| is|"
    r" was) (?:wrong|incorrect|not right)|"
    r"let(?:'s| me| us) (?:re-?(?:check|consider|evaluate|examine|think|compute|calculate|do|count|read|visit|"
    r"assess)|correct|start over)\b|"
    r"upon (?:re-?\w+|closer|further)\b|on (?:re-?\w+|closer)\b|warte\b|moment\b|korrektur\b|attends\b|"
    r"attendez\b|espera\b|corrección\b|"
    r"aspetta\b|correzione\b|espere\b|correção\b|подождите\b|постойте\b|исправл)"
    r"|等等|等一下|更正|不对[,，。]|我错了|待って|잠깐|아니[,.]"
)
"""Withdraws what was said before: "Wait, ...", "Correction:", new reasoning."""
CONFIRMS = Pattern(r"\b(?:yes|confirm\w*|indeed|still|stands?|stick\w*|holds?|same|checks out)\b|确认|没错")

REFUSES = Pattern(
    r"\b(?:can(?:no|')?t|can not|could(?: not|n't)|(?:am|is|are) not able to|unable to|(?:not possible|"
    r"impossible|difficult|hard) to|"
    r"don't|do not|does(?:n't| not)|didn't|did not|without)\s+(?:\w+\s+){0,4}?"
    r"(?:help|assist|determine\w*|tell|see|read|make out|choose|select|identify|answer\w*|find|provid\w*|"
    r"know\w*|say|process|view|access|contain|"
    r"confirm|conclude|decide|calculat\w*|comput\w*|solve|estimate|comply|discern|locate|specif\w*|"
    r"have (?:\w+ )?(?:enough|sufficient)|"
    r"information|context|(?:image|picture|figure|data|chart|graph|table)\b)"
    r"|\b(?:(?:not )?(?:enough|sufficient|insufficient|more|additional) (?:\w+ )?(?:information|data|context|"
    r"details)|no (?:information|idea|image|data)|"
    r"not (?:clear|sure|certain|known|relevant|visible|provided|given|specified|available|applicable)|(?:is|are|was|"
    r"remains?) un(?:clear|known|sure)|"
    r"as an ai|i refuse|impossible to)\b"
    r"|\bnone of (?:the|these|those|them)\b|\bi'm sorry\b|\bi am sorry\b|\bsorry, (?:but|i)\b"
    r"|无法|不能确定|不确定|不知道|抱歉|对不起|都不是|没有正确|わかりません|分かりません|判断でき|申し訳|"
    r"できません|알 수 없|모르|죄송"
    r"|\b(?:kann (?:ich )?nicht|weiß (?:ich )?(?:es )?nicht|tut mir leid|je ne (?:peux|sais)|désolé|"
    r"impossible de|no (?:puedo|sé|se puede)|"
    r"lo siento|non (?:posso|so|è possibile)|mi dispiace|não (?:posso|sei|consigo|é possível)|desculpe|"
    r"не (?:могу|знаю)|невозможно|извините)\b"
)
"""A sentence that says that it has no answer."""

COURTESY = Pattern(
    r"\W*(?:(?:and|so|but|please|also|finally),? ){0,3}(?:"
    r"you (?:can|could|may|might)\b|i(?:'ve| have)? hope(?:d)?\b|hope (?:this|that|it)\b|let me know\b|feel "
    r"free\b|(?:many )?thanks?\b|"
    r"thank you\b|you(?:'re| are) welcome\b|"
    r"(?:i(?:'m| am) )?(?:happy|glad) to\b|good luck\b|have a (?:great|good|nice)\b|if you (?:have|need|want|"
    r"would|'d|like)\b|"
    r"do(?:n't| not) hesitate\b|i(?:'d| would) be (?:happy|glad)\b|is there anything\b|(?:would|do) you (?:like|"
    r"want|need)\b|"
    r"(?:can|may|could|shall|should) i (?:help|assist|also|do)\b|(?:great|good|interesting) question\b|enjoy\b|"
    r"best (?:regards|wishes)\b|cheers\b|"
    r"(?:sure|certainly|of course|absolutely|okay|ok|alright|great)\b(?=[,!.]* (?:i(?:'ll| can| will|'d)|let|"
    r"here|let's)\b|[!.]*\s*$)|"
    r"here(?:'s| is| are) (?:the|a|my|your|an|how)\b[^.]*:|"
    r"i (?:can )?(?:see|understand|have looked at)(?: the| your| this)?(?: (?:image|picture|chart|graph|"
    r"question|table))?(?: you \w+)?\W*$|"
    r"ich hoffe|viel erfolg|gern(?:e)? geschehen|wenn (?:du|sie) |j'espère|n'hésite|espero que|avísame|no dudes|"
    r"spero che|fammi sapere|"
    r"надеюсь|если у вас|обращайтесь|希望|如果(?:你|您)|如有|谢谢|請問|请问还|お役に立|ご質問|도움이|질문이)"
)
"""The beginning of a sentence that frames an answer: a greeting, an offer, a wish, a question back."""
EXPLAINS = Pattern(
    r"^[ \t*_#>]*(?:(?:detailed|brief|short|full) )?(?:explanation|reasoning|rationale|justification|notes?|"
    r"details|why|derivation|proof|work(?:ing)?|"
    r"step[- ]by[- ]step(?: \w+)?|verification|check|erklärung|begründung|explication|explicación|spiegazione|"
    r"explicação|пояснение|объяснение|"
    r"解释|解析|說明|说明|理由|解説|説明|설명|풀이)[ \t*_]*(?:[:：]|\n)",
    8,
)
"""The heading of an explanation."""
ASKS = Pattern(
    r"^[ \t#*>\"-]*(?:(?:next|new|another|example|sample|practice|similar|follow-?up)[ \t]+)?"
    r"(?:questions?|q|human|user|problem|input|task|exercise|query|instruction|hint|prompt|example|puzzle|frage|"
    r"aufgabe|"
    r"pregunta|problema|domanda|pergunta|вопрос|задача|问题|問題|题目|題目|问|問|질문|문제|السؤال|سؤال)"
    r"[ \t*]*#?\d{0,3}[ \t*]*[:.)\uff1a][ \t*]*(?=\n?(?:[^\w\n]*\w+\b[^\n]{0,3}){3}|\n?[^\n]{4,}[?？])",
    8,
)
"""The heading of a question, with at least three words behind it: "Q: true" is a line of a truth table."""

ASKS_ANEW = Pattern(
    r"(?<=\n)[^\n]{8,400}[?\uff1f][ \t]*\n{1,3}[ \t]{0,4}\(?A[.):][^\n]{0,300}\n{1,3}[ \t]{0,4}\(?B[.):]|"
    r"(?<=\n)(?:The|the) following (?:is|are) (?:a )?multiple.choice questions?\b"
)
"""A question without a heading: copied options behind it, or the beginning of a benchmark's own prompt."""
NEVERTHELESS = Pattern(
    r"\b(?:but|however|still|nevertheless|nonetheless|yet|though|aber|mais|pero|ma|mas|но)\b[, ]*|"
    r"\bif i (?:had to|have to|must|were to|would)\b[^,.\n]{0,40},|\bi(?:'d| would| will) (?:still )?(?=guess|"
    r"say|go with|pick|choose)|但(?:是)?|不过"
)
"""Behind a doubt: what follows is chosen nevertheless."""
CONCLUDES = Pattern(
    r"\W{0,4}(?:(?:so|thus|hence|therefore|finally|in total|overall|in conclusion|consequently|ultimately|"
    r"in summary|to conclude|all in all)\b|(?:conclusion|a|ans|(?:the )?(?:grand )?(?:total|sum|result)):|所以|"
    r"因此|综上|故|したがって|よって|따라서)"
)
"""The beginning of a sentence that concludes."""
CONCLUDING = Pattern(
    r"(?:\b(?:so|thus|hence|therefore|finally|in conclusion|consequently|ultimately|in summary)\b|所以|因此|"
    r"综上|故)[^.!?\n。]{0,40}$"
)
"""Before a declaration: it concludes, and so replaces an earlier one."""
RECONSIDERED = Pattern(
    r"\b(?:wait|actually|however|hmm+|correction|on second thought|but|nope|scratch that|strike that|sorry|"
    r"apologi[sz]e|apologies|re-?(?:check|examin|consider|evaluat|assess|count|read|think|visit|look)\w*|"
    r"look(?:ing)? (?:again|closer)|(?:up)?on closer|closer (?:look|inspection)|"
    r"let me (?:check|verify|double|look|think|correct)|double.?check\w*|verify|verifying|mistake\w*|mistaken|"
    r"revis(?:e|ed|ing)|changed? my mind|instead|in fact|oops|moment|warte|eigentlich|doch|korrektur|attends?|"
    r"attendez|en fait|en réalité|espera|en realidad|mejor dicho|aspetta|in realtà|anzi|na verdade|espere|подождите|"
    r"постойте|на самом деле|точнее|edit(?=:)|perdón|pardon|corrección|correzione|correção|исправл\w+|plutôt|"
    r"i meant?|or rather|incorrect|wrong)\b|\b(?:no|nein|non|não|нет), |"
    r"不对|等等|等一下|重新|更正|纠正|仔细|再看|实际上|其实|いや|待って|実際|やはり|잠깐|아니|사실"
)
"""A change of mind between two claims."""

_NUMERALS = (
    "zwei deux dos dois два",
    "drei trois tres tre três три",
    "vier quatre cuatro quattro quatro четыре",
    "fünf cinq cinco cinque пять",
    "sechs seis шесть",
    "sieben sept siete sette sete семь",
    "acht huit ocho otto oito восемь",
    "neun neuf nueve nove девять",
    "zehn dix diez dieci dez десять",
)
NUMERALS = {word: str(number) for number, words in enumerate(_NUMERALS, 2) for word in words.split()}
"""Numerals of other languages; no words that English has, too ("due", "six")."""

UNDECIDED = Pattern(r"\b(?:depend\w*|based on|factors|moot|irrelevant|relevant|matters?|subjective|opinion)\b")
"""In the content of a declaration: it leaves the answer open."""
HEDGES = Pattern(
    r"\bwithout\b|\b(?:hard|difficult|impossible) to\b|\bnot (?:entirely |completely |100% |absolutely |fully "
    r")?(?:clear|sure|certain)\b|"
    r"\b(?:definitive|conclusive|absolute|certain)(?:ly|ty)?\b|\b(?:more|additional|limited) (?:information|"
    r"context|details)\b"
)
"""In a refusal: it only doubts, and takes nothing back."""

CORRECTS = Pattern(
    r"\bi meant?\b(?! that)(?: to say)?|\bor rather\b|\bcorrection\b(?=\W)|\bmake (?:that|it)\b|\bshould have "
    r"(?:said|been)\b"
)
"""Corrects an answer: what follows is meant."""
CHOOSES = Pattern(
    r"\bi(?:'d| would| will|'ll| must)? (?:still )?(?:choose|select|pick|go with|went with|opt for|settle on|"
    r"say|guess|answer|"
    r"vote for|lean towards?)(?:ing)?\b|\b(?:select|choose|pick|going with|leaves|left with|narrow(?:s|ed)? it "
    r"down to|"
    r"corresponds? to|match(?:es)? with|consistent with|closest to|points? to|leaning towards?|agrees? (?:best "
    r")?with|aligns? "
    r"(?:best )?with)\b|"
    r"\b(?:choisis|wähle|nehme|elijo|scelgo|escolho|выбираю|wybieram|kies|seçiyorum|chọn|memilih|väljer|velger)\b|"
    r"故选|选择?|選択肢は|選び|\[x\]|\u2611"
)
"""Chooses what follows: "I would go with"."""
INFERS = Pattern(
    r"\b(?:so|thus|therefore|hence|then|i (?:think|believe|suppose|reckon)|it(?:'s| is| must be| has to be| "
    r"should be)|"
    r"must be|has to be|should be|only|but|rather|sino|sondern|actually|probably|likely|no|"
    rf"{THEREFORE})\b|=>|->|→|∴|所以|因此|故|应该是|应为|而是|よって|따라서"
)
"""Before a clause that is only an answer: "so B."."""
CHOSEN = Pattern(
    r"\b(?:is|are|was|seems?|looks|would be|must be|appears?)(?: to be)? (?:clearly |definitely |therefore |"
    r"thus |also |"
    r"the |most |more |only |my ){0,3}(?:right|correct|true|best|accurate|likely|plausible|better|answer|choice|"
    r"option|"
    r"match|fit)\b"
    r"(?! (?:to|that|about|not)\b)|\b(?:best |accurately |correctly |closely |exactly )(?:match(?:es)?|fits?|"
    r"describes?|represents?)\b|"
    r"\b(?:remains|fits|tippen|wählen|nehmen)\b|\b(?:it is|is it)(?=\s*[.!]?\s*$)|[✓✔✅]|是?(?:正确|正確|对的)|"
    r"が?正解|정답|(?:ist|wäre) "
    r"(?:richtig|korrekt)|"
    r"est (?:correcte?|la bonne)|es (?:correct[oa]|la correcta)|è (?:corrett[oa]|giust[oa])|está corret[oa]|верн"
)
"""Behind an answer: it is chosen."""

# --- what is said about an option -----------------------------------------------------------------------------------
# `*_BEFORE` end where the words of an option begin; `*_AFTER` are matched where they end.

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


# --- the fields of a review -----------------------------------------------------------------------------------------

_VERDICT = (
    r"(?:(?:overall|final|revised|corrected|updated|my|the)[ _-]){0,2}(?:overall|final|solution|code|answer|program)"
    r"(?:'s)?[ _-]?(?:correctness|verdict|judge?ment|decision|assessment)|[\u4e00-\u9fff]{0,6}正确性"
)
_STEP = (
    r"(?:the[ _])?first[ _-]?(?:error|incorrect|wrong|erroneous|mistake|faulty|flawed)(?:[ _-]?(?:step|line|code|"
    r"location|number)|[ _]of[ _]code){0,3}|[\u4e00-\u9fff]{0,6}错误的?(?:步骤|位置|代码行|行)"
)
_REASON = r"error[ _-]?(?:reason|explanation|description|analysis)s?|错误的?(?:原因|理由|分析|解释)"
FIELDS = Pattern(
    r"(?:\A|\n)[^a-z\u4e00-\u9fff\n]{0,40}+(?:"
    rf"(?P<verdict>{_VERDICT})|(?P<step>{_STEP})|(?P<reason>{_REASON})"
    r"|(?P<verdict_short>(?:the )?(?:correctness|verdict|judge?ment|decision))|(?P<step_short>(?:error|incorrect|wrong)"
    r"[ _-]?(?:step|line|location))|(?P<reason_short>reason|explanation))"
    r"(?:[ \t]*[(\[][^()\[\]\n]{0,60}[)\]])?(?:[ \t\"'\])]{0,8}+(?:[:=|>]|-+(?=\s)|is\b|[为是]|(?=\n|\Z))"
    r"|(?=[ \t]+(?:(?:in)?correct|step[ \t]*\d{1,2}|n/?a)\W{0,4}(?:\n|\Z)))"
)
"""Heads a field of a review, on a line of its own or before its content: "Solution Correctness:". A short name counts
where no full one of the field stands."""
FIELDS_INLINE = Pattern(
    r"(?<![a-z/])(?:(?P<verdict>(?:solution[ _]?correctness|final[ _]?decision))|(?P<step>first[ _]?error[ _]?step)"
    r"|(?P<reason>error[ _]?reason))[ \t\"'\])]{0,8}+[:=>]"
)
"""The same in the middle of a line, as in JSON or between tags: only names that prompts give."""
