/** Counts the connections of each owner over all replicas, by what each replica says of its own. */
export interface Leases {
  /**
   * Whether `count` connections of `owner` here (the new one included) fit beside those of other replicas. True where the
   * others cannot be asked: then this replica's own limit alone holds. Never rejects, and is bounded in time. Whoever is
   * told false settles.
   */
  claim(owner: string, count: number): Promise<boolean>;
  /** This replica now has `count` of them: one is gone, or was not let in. Never waits and never throws. */
  settle(owner: string, count: number): void;
  /** Gives all back at once, where the others can be told. Idempotent. */
  close(): Promise<void>;
}
