import type { Messages } from '../../i18n/messages.js';

/**
 * Names the place of a problem by the labels of the page, so that an editor finds it.
 * @param field path in the draft, for example `withdrawal.tr`
 * @param languageName name of a language by its tag
 * @returns the path itself if the page does not know the place
 */
export function problemPlace(
  field: string,
  { banner, rules }: Pick<Messages, 'banner' | 'rules'>,
  languageName: (tag: string) => string,
): string {
  const settings: Readonly<Record<string, string>> = {
    'controller.legal_name': banner.legalName,
    'controller.contact': banner.contact,
    languages: banner.languages,
    default_language: banner.defaultLanguage,
    time_zone: banner.timeZone,
    withdrawal_url: banner.withdrawalUrl,
  };
  if (field.startsWith('appearance.')) return banner.look.title;
  if (field.startsWith('iab.')) return banner.iab.title;
  const rule = /^rules\.(\d+)(?:\.categories\.([^.]+)(?:\.ground\.(.+))?)?/.exec(field);
  if (rule !== null) {
    const [, index = '', key, tag] = rule;
    const where = [rules.ruleAt(String(Number(index) + 1)), ...(key === undefined ? [] : [key])].join(', ');
    return tag === undefined ? where : `${where}: ${rules.ground(languageName(tag))}`;
  }
  const text = /^banner\.([^.]+)\.(.+)$/.exec(field);
  if (text !== null) {
    const [, tag = '', name = ''] = text;
    return `${banner.texts}: ${banner.names[name] ?? name} (${languageName(tag)})`;
  }
  const withdrawal = /^withdrawal\.(.+)$/.exec(field);
  if (withdrawal !== null) return `${banner.withdrawal} (${languageName(withdrawal[1] ?? '')})`;
  // The name of a cookie may contain dots.
  const item = /^(?:categories|cookies)\.(.+)\.(title|purpose)\.([^.]+)$/.exec(field);
  if (item === null) return settings[field] ?? field;
  const [, name = '', part, tag = ''] = item;
  const label = part === 'title' ? banner.titleIn : banner.purposeIn;
  return `${name}: ${label(languageName(tag))}`;
}
