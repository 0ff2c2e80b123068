import { DEFAULT_LANGUAGES } from '../../../schemas/banner/load-texts.js';
import { useFormats } from '../i18n/locale.js';
import { Boxes, type BoxesProps } from './fields.js';

interface LanguageBoxesProps extends Omit<BoxesProps, 'options'> {
  /** Languages without default texts that the list has too. */
  readonly others?: readonly string[];
}

/** A list of languages by their names, in the order of the user's alphabet. */
export function LanguageBoxes({ others = [], ...props }: LanguageBoxesProps) {
  const { languageName, locale } = useFormats();
  const options = [...new Set([...DEFAULT_LANGUAGES, ...others])]
    .map((value) => ({ value, label: languageName(value) }))
    .sort((a, b) => a.label.localeCompare(b.label, locale));
  return <Boxes {...props} isNarrow options={options} />;
}
