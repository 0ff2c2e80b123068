import { useFormats, useMessages } from '../../i18n/locale.js';
import { type Change, type ComparedConfiguration, configurationDifference } from './configuration-difference.js';
import { SECTIONS } from './sections.js';

interface DifferenceProps {
  /** Null: nothing was published before. */
  readonly before: ComparedConfiguration | null;
  readonly after: ComparedConfiguration;
}

/** What changes from one configuration to another, in words: each value that differs, as it was and as it will be. */
export function Difference({ before, after }: DifferenceProps) {
  const { banner, common, rules, consents } = useMessages();
  const words = { banner, common, rules, laws: consents.laws, formats: useFormats() };
  const changes = configurationDifference(before, after, words);
  if (changes.length === 0) return <p>{banner.noWordsChange}</p>;
  return (
    <div className="stack">
      {SECTIONS.map((section) => {
        const here = changes.filter((change) => change.section === section);
        if (here.length === 0) return null;
        return (
          <div key={section} className="stack-tight">
            <h3>{banner.sections[section]}</h3>
            <dl className="changes">
              {here.map((change) => (
                <OneChange key={change.key} change={change} />
              ))}
            </dl>
          </div>
        );
      })}
    </div>
  );
}

function OneChange({ change: { label, before, after, language } }: { readonly change: Change }) {
  const { banner } = useMessages();
  return (
    <div>
      <dt>{label}</dt>
      {before === null ? null : (
        <dd className="line line-removed">
          <span className="for-readers">{banner.wasBefore}: </span>
          <span lang={language} dir="auto">
            {before}
          </span>
        </dd>
      )}
      <dd className={after === null ? 'hint' : 'line line-added'}>
        {after === null ? (
          banner.isGone
        ) : (
          <>
            <span className="for-readers">{banner.isNow}: </span>
            <span lang={language} dir="auto">
              {after}
            </span>
          </>
        )}
      </dd>
    </div>
  );
}
