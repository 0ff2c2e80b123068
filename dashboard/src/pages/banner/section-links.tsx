import { Link } from '@tanstack/react-router';
import type { ConfigurationDraft } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { type BannerSection, placeOfProblem } from './sections.js';

interface SectionLinksProps {
  readonly siteId: string;
  readonly sections: readonly BannerSection[];
  readonly current: BannerSection;
  readonly problems: ConfigurationDraft['problems'];
}

/** The links to the sections of the page, each with the number of what is missing in it. */
export function SectionLinks({ siteId, sections, current, problems }: SectionLinksProps) {
  const { banner } = useMessages();
  const { number } = useFormats();
  return (
    <nav className="sections" aria-label={banner.sectionLinks}>
      <ul>
        {sections.map((section) => {
          const count = problems.filter(({ field }) => placeOfProblem(field).section === section).length;
          return (
            <li key={section}>
              <Link
                to="/sites/$siteId/banner/$section"
                params={{ siteId, section }}
                search={true}
                aria-current={section === current ? 'page' : undefined}
              >
                {banner.sections[section]}
                {count === 0 ? null : (
                  <span className="count">
                    {' '}
                    <span aria-hidden="true">{number(count)}</span>
                    <span className="for-readers">({banner.missingIn(number(count))})</span>
                  </span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
