import { Fragment } from 'react';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';
import { ReadToken } from './read-token.js';

/** The stamped checkpoints of the ledger, with their files. */
export function Checkpoints() {
  const { timestamps } = useMessages();
  const { number, list, date } = useFormats();
  const api = useApi();
  const query = usePages(['checkpoints'], (cursor) =>
    api.GET('/api/v1/timestamps/checkpoints', { params: { query: { limit: 10, cursor } } }),
  );
  return (
    <Section title={timestamps.checkpoints}>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p>{timestamps.empty}</p>
          ) : (
            <Table
              label={timestamps.checkpoints}
              items={items}
              keyOf={({ size }) => String(size)}
              columns={[
                { label: timestamps.time, cell: ({ gen_time }) => <Time at={gen_time} /> },
                { label: timestamps.size, phone: 'labelled', cell: ({ size }) => number(size) },
                { label: timestamps.authority, cell: ({ authorities }) => list(authorities) },
                {
                  label: timestamps.soundUntil,
                  phone: 'labelled',
                  cell: ({ certificates_expire_at: until }) => (until === null ? timestamps.soundUnknown : date(until)),
                },
                {
                  label: timestamps.files,
                  cell: ({ size, note, tokens }) => (
                    <span className="actions">
                      <a href={note} download={`checkpoint-${size}.txt`}>
                        {timestamps.note}
                      </a>
                      {tokens.map((token, index) => (
                        <Fragment key={token}>
                          <a href={token} download={`checkpoint-${size}-${index + 1}.tsr`}>
                            {timestamps.token(number(index + 1))}
                          </a>
                          <ReadToken path={token} />
                        </Fragment>
                      ))}
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={query} />
    </Section>
  );
}
