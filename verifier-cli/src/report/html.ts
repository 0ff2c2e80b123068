import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, utf8 } from '../../../schemas/crypto/encoding.js';
import { escapeHtml } from '../../../schemas/text/escape-html.js';
import type { Language } from '../i18n/language.js';
import { drawingStyles, hasPicture, type Markup, renderHtml } from '../rendering/markup.js';
import { REPORT_STYLE } from './style.js';

/**
 * Builds a self-contained page. Its policy permits nothing to run, load or be sent, except the style sheets in it, by
 * their hashes, and pictures in the page itself.
 * @param title plain text
 * @param style style rules in addition to those of a report
 */
export function htmlPage(title: string, language: Language, content: Markup, style = ''): string {
  const sheet = REPORT_STYLE + style;
  const styles = [sheet, ...drawingStyles(content)].map((css) => `'sha256-${toBase64(sha256(utf8(css)))}'`);
  const pictures = hasPicture(content) ? ' img-src data:;' : '';
  const policy = `default-src 'none';${pictures} style-src ${styles.join(' ')}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${sheet}</style>
</head>
<body>
<main>
${renderHtml(content)}
</main>
</body>
</html>
`;
}
