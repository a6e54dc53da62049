package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A pos is a place in a source file, counted from 1; columns count bytes.
type pos struct {
	file      string
	line, col int
}

func (p pos) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.col) }

// A srcError is a mistake in a .x file.
type srcError struct {
	pos pos
	msg string
}

func (e *srcError) Error() string { return e.pos.String() + ": " + e.msg }

func errorAt(p pos, format string, args ...any) error {
	return &srcError{p, fmt.Sprintf(format, args...)}
}

type tokenKind int

const (
	tokEOF    tokenKind = iota
	tokIdent            // identifier or keyword
	tokNumber           // constant, sign included
	tokPunct            // one of the characters of puncts
	tokPass             // rest of a line that began with %
)

const puncts = "{}()[]<>=;:,*"

// A token is a word of a .x file with the comments that belong to it.
type token struct {
	kind tokenKind
	text string
	pos  pos
	lead string // comment that ends on the line before the token
	tail string // comment that begins on the token's line, after it
}

func (t token) String() string {
	switch t.kind {
	case tokEOF:
		return "end of file"
	case tokPass:
		return "% line"
	}
	return fmt.Sprintf("%q", t.text)
}

type lexer struct {
	src  string
	off  int
	line int
	bol  int // offset of the line's first byte
	file string

	toks     []token
	lead     string // comment not yet given to a token
	leadLine int    // line on which it ends
}

// lex cuts src into tokens, the last of which is a tokEOF.
func lex(file, src string) ([]token, error) {
	l := &lexer{src: src, line: 1, file: file}
	if i := strings.IndexFunc(src, notInGo); i >= 0 {
		before := src[:i]
		return nil, errorAt(pos{file, 1 + strings.Count(before, "\n"), i - strings.LastIndexByte(before, '\n')}, "file is not plain UTF-8 text")
	}
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		if l.lead != "" && l.leadLine >= t.pos.line-1 {
			t.lead = l.lead
		}
		l.lead = ""
		l.toks = append(l.toks, t)
		if t.kind == tokEOF {
			return l.toks, nil
		}
	}
}

func (l *lexer) pos() pos { return pos{l.file, l.line, l.off - l.bol + 1} }

func (l *lexer) next() (token, error) {
	for l.off < len(l.src) {
		c := l.src[l.off]
		switch {
		case c == '\n':
			l.off++
			l.line++
			l.bol = l.off
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			l.off++
		case c == '%' && l.off == l.bol:
			return l.take(tokPass, 1+len(untilNewline(l.src[l.off+1:]))), nil
		case c == '/':
			if err := l.comment(); err != nil {
				return token{}, err
			}
		case isLetter(c):
			return l.take(tokIdent, l.span(func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' })), nil
		case isDigit(c) || c == '-':
			return l.take(tokNumber, l.span(func(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' })), nil
		case strings.IndexByte(puncts, c) >= 0:
			return l.take(tokPunct, 1), nil
		case c == '#':
			return token{}, errorAt(l.pos(), "preprocessor lines are not supported")
		default:
			return token{}, errorAt(l.pos(), "unexpected character %q", []rune(l.src[l.off:])[0])
		}
	}
	return token{kind: tokEOF, pos: l.pos()}, nil
}

func (l *lexer) take(k tokenKind, n int) token {
	t := token{kind: k, text: l.src[l.off : l.off+n], pos: l.pos()}
	l.off += n
	return t
}

// span returns how many bytes from here on satisfy ok, the first unseen.
func (l *lexer) span(ok func(byte) bool) int {
	n := 1
	for l.off+n < len(l.src) && ok(l.src[l.off+n]) {
		n++
	}
	return n
}

// comment reads a comment and keeps it for the token it belongs to.
func (l *lexer) comment() error {
	start, rest := l.pos(), l.src[l.off:]
	var n int
	switch {
	case strings.HasPrefix(rest, "//"):
		n = len(untilNewline(rest))
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return errorAt(start, "comment is not closed")
		}
		n = 2 + end + 2
	default:
		return errorAt(start, "unexpected character '/'")
	}
	raw := rest[:n]
	l.off += n
	if i := strings.LastIndexByte(raw, '\n'); i >= 0 {
		l.line += strings.Count(raw, "\n")
		l.bol = l.off - n + i + 1
	}

	text := commentText(raw)
	if last := len(l.toks) - 1; last >= 0 && l.toks[last].pos.line == start.line && l.toks[last].kind != tokPass {
		l.toks[last].tail = text
		return nil
	}
	if l.lead != "" && l.leadLine >= start.line-1 {
		text = l.lead + "\n" + text
	}
	l.lead, l.leadLine = text, l.line
	return nil
}

// commentText returns what a comment says, without its marks and frame.
func commentText(raw string) string {
	if text, ok := strings.CutPrefix(raw, "//"); ok {
		return strings.TrimSpace(text)
	}
	lines := strings.Split(raw[2:len(raw)-2], "\n")
	for i, s := range lines {
		s = strings.TrimSpace(s)
		if i > 0 {
			s = strings.TrimSpace(strings.TrimPrefix(s, "*"))
		}
		lines[i] = s
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func untilNewline(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// notInGo reports whether Go source, where comments go, cannot have r. Bytes that
// are no UTF-8 are met as U+FFFD.
func notInGo(r rune) bool { return r == 0 || r == '\uFEFF' || r == utf8.RuneError }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
