# Prints each sentence of a page of Markdown on one line, and each row of a table. Leaves out code and headings.
/^```/ { flush(); code = !code; next }
code || /^#/ { flush(); next }
/^(\||- |[0-9]+\. |$)/ { flush() }
{ gsub(/^ +| +$/, ""); text = text (text == "" ? "" : " ") $0 }
END { flush() }
function flush() {
    if (text !~ /^\|/) gsub(/[.] /, "&\n", text)
    if (text != "") print text
    text = ""
}
