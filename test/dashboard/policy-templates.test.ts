import { expect, test } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { tr } from '../../dashboard/src/i18n/tr/index.js';
import { KVKK_TEXTS } from '../../dashboard/src/pages/documents/policy-templates/kvkk.js';
import {
  loadTemplate,
  TEMPLATE_LANGUAGES,
} from '../../dashboard/src/pages/documents/policy-templates/load-template.js';
import { fieldMessage } from '../../dashboard/src/ui/field-message.js';
import { gapProblem, gapsIn } from '../../schemas/text/gaps.js';

/** Every template leaves open what only the site can know, in one order. */
const KINDS = ['who', 'what', 'recipients', 'periods', 'rights', 'contact'];

test.each(TEMPLATE_LANGUAGES)('the template in %s has each gap once, below a heading of its own', async (language) => {
  const { title, content } = await loadTemplate(language);
  expect(content.startsWith(`# ${title}\n`)).toBe(true);
  expect(gapsIn(title)).toEqual([]);
  expect(gapsIn(content).map((gap) => /^\[\[(\w+): [^[\]]{10,}\]\]$/.exec(gap)?.[1])).toEqual(KINDS);
  expect(content.split('\n## ')).toHaveLength(KINDS.length + 1);
  // It states no fact of a site, and no law by name.
  expect(content).not.toMatch(/\d|@|https?:|\b(?:GDPR|DSGVO|KVKK)\b/);
});

test('the texts for Türkiye are a notice, and two acts that are no condition of anything', () => {
  expect(KVKK_TEXTS.map(({ slug, kind }) => [slug, kind])).toEqual([
    ['aydinlatma-metni', 'privacy_notice'],
    ['acik-riza', 'consent_form'],
    ['ticari-ileti', 'consent_form'],
  ]);
  for (const { title, content, kind } of KVKK_TEXTS) {
    expect(content.startsWith(`# ${title}\n`)).toBe(true);
    const gaps = gapsIn(content).map((gap) => /^\[\[(\w+): [^[\]]{10,}\]\]$/.exec(gap)?.[1]);
    expect(gaps).toEqual(kind === 'privacy_notice' ? KINDS : ['who', 'what', 'contact']);
    expect(content).toContain(kind === 'privacy_notice' ? 'Onaylanmaz' : 'hiçbir hizmetin koşulu değildir');
  }
  const [, consent, messages] = KVKK_TEXTS;
  expect(consent?.content).not.toContain('ileti');
  expect(messages?.content).not.toContain('rıza');
});

test('the templates are three texts', async () => {
  const lines = await Promise.all(TEMPLATE_LANGUAGES.map(async (one) => (await loadTemplate(one)).content.split('\n')));
  const texts = lines.flat().filter((line) => line !== '');
  expect(new Set(texts).size).toBe(texts.length);
});

test('a refused gap has words in both languages', () => {
  const message = gapProblem(['[[who: name]]']);
  expect(fieldMessage(en.fieldMessages, message)).toBe('Fill in the gaps of the text first: [[who: name]]');
  expect(fieldMessage(tr.fieldMessages, message)).toBe('Önce metindeki boşlukları doldurun: [[who: name]]');
});
