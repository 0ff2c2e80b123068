import { cookiePolicyOf } from '../../core/choice.js';
import type { ConsentSource } from '../../core/consent.js';

/** Reads the text that the consent refers to, which the visitor opened in the settings. */
export async function fillPolicy(consent: ConsentSource, place: Element): Promise<void> {
  const { configuration } = consent.state;
  const policy = configuration && cookiePolicyOf(configuration);
  if (!policy) return;
  const { version, content } = await consent.document(policy.slug);
  const { media_type: type } = version;
  // Other types would need a viewer: the site links to its own page for them. The marks of headings in Markdown
  // are nothing to read.
  if (type.startsWith('text/'))
    place.textContent = type === 'text/html' ? plain(content) : content.replace(/^#+ /gm, '');
}

/** The text of a document in HTML. Nothing of it is inserted into the page. */
function plain(html: string): string | null {
  try {
    return new DOMParser().parseFromString(html, 'text/html').body.textContent;
  } catch {
    // The page requires trusted types.
    return html;
  }
}
