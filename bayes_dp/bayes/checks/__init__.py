"""Does the model fit the counts, and which likelihood fits them best?"""
