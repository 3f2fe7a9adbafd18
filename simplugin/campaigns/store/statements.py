"""What the writer of a store says to SQLite, and what the reader asks it too."""

ADD_CAMPAIGN = """
    INSERT INTO campaigns (identity, title, file, text, total, begun) VALUES (?, ?, ?, ?, ?, ?)
"""
STATE_OF = """
    SELECT r.status FROM jobs j JOIN runs r ON r.job = j.number
    WHERE j.key = ? ORDER BY r.status, r.attempt DESC LIMIT 1
"""
JOB_OF_MEMBER = """
    SELECT m.job FROM members m JOIN jobs j ON j.number = m.job
    WHERE m.campaign = ? AND m.position = ? AND j.key = ?
        AND m.wall_limit IS ? AND m.memory_limit IS ?
"""
ADD_JOB = "INSERT INTO jobs (key, target, base, arguments) VALUES (?, ?, ?, ?)"
ADD_MEMBER = """
    INSERT INTO members (campaign, position, job, varied, wall_limit, memory_limit, target, base,
        arguments)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (campaign, position) DO UPDATE SET job = excluded.job, varied = excluded.varied,
        wall_limit = excluded.wall_limit, memory_limit = excluded.memory_limit,
        target = excluded.target, base = excluded.base, arguments = excluded.arguments
"""
FOLLOW = """
    UPDATE members SET job = ?
    WHERE campaign = ? AND job = (SELECT number FROM jobs WHERE key = ?)
"""
ADD_RUN = """
    INSERT INTO runs (job, attempt, campaign, status, started, duration, place, versions, shape,
        metrics, best, gap, digest, provenance_base, provenance, failure, error)
    VALUES (?, 1 + (SELECT coalesce(max(attempt), 0) FROM runs WHERE job = ?), ?,
        ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
ADD_CONTENTS = "INSERT INTO contents (run, document) VALUES (?, ?)"
