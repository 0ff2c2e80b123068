/** The parts of the banner page, in the order of its links. Each has an address of its own. */
export const SECTIONS = ['texts', 'look', 'categories', 'rules', 'settings', 'iab', 'scan', 'publish'] as const;
export type BannerSection = (typeof SECTIONS)[number];

/** Sections that only change something, so that a reader has no use for them. */
const FOR_EDITORS: readonly BannerSection[] = ['look', 'iab'];

/** The sections that a user has. */
export function sectionsFor(mayChange: boolean): readonly BannerSection[] {
  return SECTIONS.filter((one) => mayChange || !FOR_EDITORS.includes(one));
}

/** The search of the page's address: the language of the texts and of the preview. */
export interface BannerSearch {
  readonly language?: string | undefined;
}

export function bannerSearchOf(search: Readonly<Record<string, unknown>>): BannerSearch {
  return { language: typeof search.language === 'string' ? search.language : undefined };
}

/** Where a value of the draft is changed. */
export interface DraftPlace {
  readonly section: BannerSection;
  /** Name of the field, or id of the control that leads to it. */
  readonly anchor: string;
  /** The language to choose first, if the section shows one language at a time. */
  readonly language?: string;
}

/** The id of the button that opens the form of a category, or of a cookie by its name. */
export function editorId(kind: 'categories' | 'cookies', name: string): string {
  return `${kind}.${name}`;
}

/** Finds the place of a problem. @param field path in the draft, for example `withdrawal.tr` */
export function placeOfProblem(field: string): DraftPlace {
  if (field.startsWith('appearance.')) return { section: 'look', anchor: field };
  if (field.startsWith('iab.')) return { section: 'iab', anchor: field };
  const rule = /^(rules\.\d+)(\.categories\.[^.]+)?/.exec(field);
  if (rule !== null) return { section: 'rules', anchor: `${rule[1]}${rule[2] ?? ''}` };
  const text = /^banner\.([^.]+)\.(.+)$/.exec(field);
  if (text !== null) return { section: 'texts', anchor: `texts.${text[2]}`, language: text[1] ?? '' };
  const withdrawal = /^withdrawal\.(.+)$/.exec(field);
  if (withdrawal !== null) return { section: 'texts', anchor: 'withdrawal', language: withdrawal[1] ?? '' };
  if (field === 'withdrawal_url') return { section: 'texts', anchor: field };
  // The name of a cookie may contain dots.
  const item = /^(categories|cookies)\.(.+?)(?:\.(?:title|purpose)\.[^.]+|\.provider)?$/.exec(field);
  if (item !== null)
    return { section: 'categories', anchor: editorId(item[1] === 'cookies' ? 'cookies' : 'categories', item[2] ?? '') };
  return field === 'categories' ? { section: 'categories', anchor: '' } : { section: 'settings', anchor: field };
}
