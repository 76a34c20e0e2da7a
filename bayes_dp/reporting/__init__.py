"""A report of a whole analysis, for a reader who was not there: one file of HTML, Markdown or JSON.

findings      what is computed: posterior, comparison, check of the model, other priors and strengths
sensitivity   the answer under other priors and strengths
figures       the findings as pictures, and what they show in words
svg           a Matplotlib figure as SVG that fits into a page, light or dark
document      what a report is made of: sections, paragraphs, tables, figures
answer        the first sections: the question, the data, the posterior
evidence      the others: what supports the answer, what it rests on, how to repeat it
html          a document as HTML
markdown      a document as Markdown
report        `report` and `Report`
"""
