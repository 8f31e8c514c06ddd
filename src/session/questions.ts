import type { FrameKind } from '../ports/connection.ts';
import type { Question, Withdraw } from '../ports/link.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { notificationText } from '../protocol/compose.ts';
import { type Notification, progressToken, type Response, stringField } from '../protocol/envelope.ts';
import { questionRefusal } from '../protocol/need.ts';
import { rewriteNotification, rewriteRequest } from '../protocol/rewrite.ts';

/** What upstreams have asked this client, under ids of one counter: `g1`, `g2`, …, never reused. */
export class Questions {
  private readonly send: (frame: string, kind: FrameKind) => void;
  private readonly open = new Map<string, Question>();
  private last = 0;

  constructor(send: (frame: string, kind: FrameKind) => void) {
    this.send = send;
  }

  /** Asks the client; a question it did not declare itself able to answer is refused without troubling it. */
  ask(question: Question, declared: ClientCapabilities): Withdraw {
    const { request } = question;
    const refusal = questionRefusal(request, declared);
    if (refusal !== undefined) {
      question.refuse(refusal);
      return () => {};
    }
    this.last += 1;
    const id = `g${this.last}`;
    this.open.set(id, question);
    const token = progressToken(request) === undefined ? {} : { progressToken: id };
    this.send(rewriteRequest(request, { id, ...token }), 'update');
    return (notification) => this.withdraw(id, notification);
  }

  /** True if somebody waited for this answer of the client. */
  answered(response: Response): boolean {
    const question = this.take(response.id);
    question?.answer(response);
    return question !== undefined;
  }

  progress(notification: Notification): void {
    const token = stringField(notification.text, notification.params, 'progressToken');
    if (token !== undefined) this.open.get(token)?.progress(notification);
  }

  /** An answer to this id would be late, not made up. */
  wasAsked(id: unknown): boolean {
    const asked = typeof id === 'string' && /^g[1-9]\d*$/.test(id) ? Number(id.slice(1)) : Number.NaN;
    return asked <= this.last;
  }

  private withdraw(id: string, notification?: Notification): void {
    if (this.take(id) === undefined) return;
    const frame =
      notification === undefined
        ? notificationText('notifications/cancelled', JSON.stringify({ requestId: id }))
        : rewriteNotification(notification, { requestId: id });
    this.send(frame, 'update');
  }

  private take(id: unknown): Question | undefined {
    if (typeof id !== 'string') return undefined;
    const question = this.open.get(id);
    this.open.delete(id);
    return question;
  }
}
