import { DEFAULT_LANGUAGES } from '../../../schemas/banner/load-texts.js';
import { useFormats } from '../i18n/locale.js';
import { Boxes, type BoxesProps } from './fields.js';

interface LanguageBoxesProps extends Omit<BoxesProps, 'options'> {
  /** Languages without default texts that the list has too. */
  readonly others?: readonly string[];
}

/** The languages with default texts, and others, by their names, in the order of the user's alphabet. */
export function useLanguageOptions(others: readonly string[]): BoxesProps['options'] {
  const { languageName, locale } = useFormats();
  return [...new Set([...DEFAULT_LANGUAGES, ...others])]
    .map((value) => ({ value, label: languageName(value) }))
    .sort((a, b) => a.label.localeCompare(b.label, locale));
}

/** A list of languages. */
export function LanguageBoxes({ others = [], ...props }: LanguageBoxesProps) {
  return <Boxes {...props} isNarrow options={useLanguageOptions(others)} />;
}
