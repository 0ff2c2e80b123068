import { useQuery } from '@tanstack/react-query';
import type { DocumentVersion } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { Loaded } from '../../ui/loaded.js';
import { ScrollBox } from '../../ui/scroll-box.js';
import { type ComparedLine, changedLines, lineDifference } from './line-difference.js';
import { isText, useReadVersion } from './read-version.js';

interface VersionDifferenceProps {
  readonly siteId: string;
  readonly before: DocumentVersion;
  readonly after: DocumentVersion;
  /** Whether it is open from the beginning. */
  readonly isOpen: boolean;
}

/** The lines that a version adds to the version before, and those that it removes. */
export function VersionDifference({ siteId, before, after, isOpen }: VersionDifferenceProps) {
  const { documents } = useMessages();
  const readVersion = useReadVersion(siteId);
  const isShown = isText(before) && isText(after);
  const query = useQuery({
    enabled: isShown,
    queryKey: ['difference', before.content_sha256, after.content_sha256],
    queryFn: async () => {
      const [old, now] = await Promise.all([readVersion(before), readVersion(after)]);
      return lineDifference(await old.text(), await now.text());
    },
  });
  if (!isShown) return null;
  return (
    <details open={isOpen}>
      <summary>{documents.difference}</summary>
      <Loaded query={query}>
        {(lines) =>
          lines.every(({ kind }) => kind === 'same') ? (
            <p>{documents.same}</p>
          ) : (
            <Lines lines={lines} language={after.language} />
          )
        }
      </Loaded>
    </details>
  );
}

interface LinesProps {
  readonly lines: readonly ComparedLine[];
  readonly language: string;
}

/** Compared lines; what was added and removed is said to screen readers. */
export function Lines({ lines, language }: LinesProps) {
  const { documents } = useMessages();
  return (
    <ScrollBox look="difference" label={documents.difference}>
      {changedLines(lines).map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines can repeat, and the order is fixed
        <p key={index} className={`line line-${kind}`} dir="auto">
          {kind === 'same' ? null : (
            <span className="for-readers">{kind === 'added' ? documents.added : documents.removed}: </span>
          )}
          <span lang={language}>{text}</span>
        </p>
      ))}
    </ScrollBox>
  );
}
