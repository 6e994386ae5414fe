-- Projections and filters
SELECT * FROM emp;
SELECT id, name FROM emp WHERE dept = 3;
SELECT id FROM emp WHERE dept <> 3;
SELECT id FROM emp WHERE NOT dept = 3;
SELECT id FROM emp WHERE dept = 3 OR boss IS NULL;
SELECT id FROM emp WHERE dept IS NULL AND boss IS NOT NULL;
SELECT id, salary + 1, salary - 1, salary * 2, - salary FROM emp;
SELECT id, salary / 7, salary % 7, (0 - salary) / 7, (0 - salary) % 7 FROM emp;
SELECT id, bonus + 1, bonus * 2, bonus / 2 FROM emp;
SELECT id, ABS(bonus), ABS(0 - salary) FROM emp;
SELECT id, name || '-' || name FROM emp;
SELECT id, UPPER(name), LOWER(name), CHAR_LENGTH(name), TRIM(name) FROM emp;
SELECT id, SUBSTRING(name, 2), SUBSTRING(name, 1, 2), REPLACE(name, 'n', 'mm') FROM emp;
SELECT id FROM emp WHERE name LIKE 'a%';
SELECT id FROM emp WHERE name NOT LIKE '%n%';
SELECT id FROM emp WHERE name LIKE 'a!_b' ESCAPE '!';
SELECT id FROM emp WHERE name LIKE '50!%' ESCAPE '!';
SELECT id FROM emp WHERE name LIKE '';
SELECT id FROM emp WHERE name = '';
SELECT id FROM emp WHERE salary BETWEEN 10 AND 20;
SELECT id FROM emp WHERE salary NOT BETWEEN 10 AND boss;
SELECT id FROM emp WHERE dept IN (1, 2, 5);
SELECT id FROM emp WHERE dept NOT IN (1, 2, 5);
SELECT id FROM emp WHERE dept NOT IN (1, NULL);
SELECT id FROM emp WHERE dept IN (1, NULL);
SELECT id, dept IN (1, NULL), dept NOT IN (1, NULL), (dept = 1) IS UNKNOWN FROM emp;
SELECT id, CAST(salary AS DOUBLE), CAST(bonus AS BIGINT), CAST(salary AS STRING) FROM emp;
SELECT CAST('12' AS INT), CAST('-3' AS BIGINT) FROM dept;
SELECT id, (salary + 1) * 2 - dept AS x FROM emp WHERE (salary + 1) * 2 - dept > 30;
SELECT DISTINCT dept FROM emp;
SELECT DISTINCT dept, boss IS NULL FROM emp;
SELECT DISTINCT a, b FROM nums WHERE c <> 0;
SELECT DISTINCT salary / 20 FROM emp;
SELECT 1, 'x', NULL, 2.5 FROM void;
SELECT 1, 'x', 2.5;

-- Three-valued logic
SELECT a, b, a = 1 AND b = 1, a = 1 OR b = 1, NOT a = 1 FROM nums;
SELECT a, b, (a = 1) IS TRUE, (a = 1) IS NOT TRUE, (a = 1) IS FALSE, (a = 1) IS NOT FALSE FROM nums;
SELECT a, b, a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b, a = b, a <> b FROM nums;
SELECT a, b, COALESCE(a, b, -1), NULLIF(a, b) FROM nums;
SELECT a FROM nums WHERE a = NULL;
SELECT a FROM nums WHERE NULL;
SELECT a, b FROM nums WHERE NOT (a = 1 AND b = 1);
SELECT a, b FROM nums WHERE NOT (a = 1 OR b = 1);
SELECT a, b FROM nums WHERE a < b OR a >= b;
SELECT a, b, c FROM nums WHERE a + b + c > 2;
SELECT a, b, a BETWEEN b AND c, a NOT BETWEEN b AND c FROM nums;
SELECT a FROM nums WHERE CASE WHEN a = 1 THEN TRUE WHEN b = 1 THEN FALSE END;

-- CASE
SELECT id, CASE WHEN salary > 20 THEN 'high' WHEN salary > 0 THEN 'low' ELSE 'none' END FROM emp;
SELECT id, CASE dept WHEN 1 THEN 'one' WHEN 2 THEN 'two' END FROM emp;
SELECT id, CASE dept WHEN NULL THEN 'null' ELSE 'other' END FROM emp;
SELECT a, CASE WHEN c <> 0 THEN 6 / c END FROM nums;
SELECT a, CASE WHEN c = 0 THEN 0 ELSE 6 / c END FROM nums;
SELECT CASE WHEN a = 1 THEN 1 ELSE 2.5 END FROM nums;
SELECT SUM(CASE WHEN a = 1 THEN 1 ELSE 0 END), COUNT(CASE WHEN a = 1 THEN 1 END) FROM nums;

-- Aggregates
SELECT COUNT(*) FROM emp;
SELECT COUNT(*), COUNT(dept), SUM(salary), MIN(salary), MAX(salary) FROM emp;
SELECT COUNT(*), COUNT(n), SUM(n), MIN(n), MAX(t) FROM void;
SELECT n, COUNT(*) FROM void GROUP BY n;
SELECT COUNT(*) FROM emp WHERE id > 1000;
SELECT MAX(name), MIN(name) FROM emp WHERE id > 1000;
SELECT dept, COUNT(*), SUM(salary) FROM emp GROUP BY dept;
SELECT dept, AVG(CAST(salary AS DOUBLE)), AVG(bonus) FROM emp GROUP BY dept;
-- sqlite: SELECT dept, CAST(AVG(salary) AS INTEGER) FROM emp GROUP BY dept
SELECT dept, AVG(salary) FROM emp GROUP BY dept;
-- sqlite: SELECT CAST(AVG(amount) AS INTEGER), CAST(AVG(0 - salary) AS INTEGER) FROM pay, emp
SELECT AVG(amount), AVG(0 - salary) FROM pay CROSS JOIN emp;
SELECT dept, boss, COUNT(*) FROM emp GROUP BY dept, boss;
SELECT a + b, COUNT(*) FROM nums GROUP BY a + b;
SELECT a, b, SUM(c), MIN(c), MAX(c) FROM nums GROUP BY a, b;
SELECT COUNT(DISTINCT a), COUNT(DISTINCT b), COUNT(a) FROM nums;
SELECT a, COUNT(DISTINCT b), SUM(DISTINCT c), COUNT(c) FROM nums GROUP BY a;
SELECT SUM(DISTINCT salary), AVG(DISTINCT CAST(salary AS DOUBLE)), MAX(DISTINCT salary) FROM emp;
SELECT COUNT(*) FILTER (WHERE a = 1), SUM(b) FILTER (WHERE a IS NULL), COUNT(DISTINCT c) FILTER (WHERE b > 0) FROM nums;
SELECT a, SUM(b) FILTER (WHERE c > 100) FROM nums GROUP BY a;
SELECT dept, COUNT(*) FROM emp GROUP BY dept HAVING COUNT(*) > 1;
SELECT dept FROM emp GROUP BY dept HAVING MAX(salary) > 20 AND dept IS NOT NULL;
SELECT dept, SUM(salary) FROM emp GROUP BY dept HAVING SUM(salary) IS NULL OR SUM(salary) > 30;
SELECT COUNT(*) FROM emp HAVING COUNT(*) > 1000;
SELECT COUNT(*) FROM emp HAVING COUNT(*) > 1;
SELECT dept, COUNT(*) * 2 + 1, MAX(salary) - MIN(salary) FROM emp GROUP BY dept;
SELECT dept FROM emp GROUP BY dept;
SELECT MIN(name), MAX(name), MIN(bonus), MAX(bonus) FROM emp GROUP BY dept;
SELECT name, COUNT(*) FROM emp GROUP BY name;
SELECT bonus, COUNT(*) FROM emp GROUP BY bonus;
SELECT n, COUNT(*) FROM (SELECT dept, COUNT(*) AS n FROM emp GROUP BY dept) AS d GROUP BY n;
SELECT MAX(n), SUM(n) FROM (SELECT a, COUNT(*) AS n FROM nums GROUP BY a) AS q;
SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM nums) AS q;
SELECT SUM(s) FROM (SELECT SUM(salary) AS s FROM emp GROUP BY dept HAVING COUNT(*) > 1) AS q;

-- Joins
SELECT e.id, d.city FROM emp AS e JOIN dept AS d ON e.dept = d.id;
SELECT e.id, d.city FROM emp AS e LEFT JOIN dept AS d ON e.dept = d.id;
SELECT e.id, d.city FROM emp AS e RIGHT JOIN dept AS d ON e.dept = d.id;
SELECT e.id, d.city FROM emp AS e FULL JOIN dept AS d ON e.dept = d.id;
SELECT e.id, d.id FROM emp AS e LEFT JOIN dept AS d ON e.dept = d.id AND d.city = 'Rome';
SELECT e.id, d.id FROM emp AS e LEFT JOIN dept AS d ON e.dept = d.id AND e.salary > 10;
SELECT e.id, d.id FROM emp AS e FULL JOIN dept AS d ON e.dept = d.id AND e.salary > 10;
SELECT e.id, d.id FROM emp AS e LEFT JOIN dept AS d ON e.dept = d.id WHERE d.city = 'Rome';
SELECT e.id, d.id FROM emp AS e LEFT JOIN dept AS d ON e.dept = d.id WHERE d.id IS NULL;
SELECT e.id, d.id FROM emp AS e LEFT JOIN dept AS d ON e.dept = d.id WHERE d.city IS NULL OR e.salary = 0;
SELECT e.id, d.id FROM emp AS e RIGHT JOIN dept AS d ON e.dept = d.id WHERE e.id IS NULL OR e.salary > 10;
SELECT e.id, d.id FROM emp AS e FULL JOIN dept AS d ON e.dept = d.id WHERE e.id IS NULL OR d.id IS NULL;
SELECT e.id, b.id, b.name FROM emp AS e JOIN emp AS b ON e.boss = b.id;
SELECT e.id, b.id, c.id FROM emp AS e JOIN emp AS b ON e.boss = b.id JOIN emp AS c ON b.boss = c.id;
SELECT e.id, b.id, c.id FROM emp AS e LEFT JOIN emp AS b ON e.boss = b.id LEFT JOIN emp AS c ON b.boss = c.id;
SELECT e.id, p.amount, d.name FROM emp AS e JOIN pay AS p ON p.emp = e.id JOIN dept AS d ON d.id = e.dept;
SELECT e.id, p.amount, d.name FROM emp AS e LEFT JOIN pay AS p ON p.emp = e.id FULL JOIN dept AS d ON d.id = e.dept;
SELECT e.id, p.amount FROM emp AS e JOIN pay AS p ON p.emp = e.id AND p.note = e.name;
SELECT e.id, p.amount FROM emp AS e JOIN pay AS p ON p.emp = e.id AND p.amount > e.bonus;
SELECT e.id, p.amount FROM emp AS e LEFT JOIN pay AS p ON p.emp = e.id AND p.amount > e.bonus;
SELECT e.id, p.mon FROM emp AS e JOIN pay AS p ON p.emp + 1 = e.id;
SELECT x.a, y.a FROM nums AS x JOIN nums AS y ON x.a IS NOT DISTINCT FROM y.a AND x.b = y.b;
SELECT x.a, y.b FROM nums AS x JOIN nums AS y ON x.a = y.b;
SELECT x.c, y.c FROM nums AS x FULL JOIN nums AS y ON x.a = y.b AND x.b = y.a;
SELECT d.id, n.n FROM dept AS d LEFT JOIN void AS n ON n.n = d.id;
SELECT d.id, n.n FROM dept AS d JOIN void AS n ON n.n = d.id;
SELECT d.id, n.n FROM void AS n FULL JOIN dept AS d ON n.n = d.id;
SELECT e.id, d.city FROM emp AS e, dept AS d WHERE e.dept = d.id AND d.city <> 'Rome';
SELECT d.city, COUNT(*), SUM(e.salary) FROM emp AS e JOIN dept AS d ON e.dept = d.id GROUP BY d.city;
SELECT d.id, COUNT(e.id), COUNT(*) FROM dept AS d LEFT JOIN emp AS e ON e.dept = d.id GROUP BY d.id;
SELECT d.city, COUNT(DISTINCT p.note) FROM dept AS d LEFT JOIN emp AS e ON e.dept = d.id LEFT JOIN pay AS p ON p.emp = e.id GROUP BY d.city;
SELECT t.dept, t.n, d.name FROM (SELECT dept, COUNT(*) AS n FROM emp GROUP BY dept) AS t JOIN dept AS d ON d.id = t.dept;
SELECT x.dept, x.n, y.m FROM (SELECT dept, COUNT(*) AS n FROM emp GROUP BY dept) AS x FULL JOIN (SELECT emp, SUM(amount) AS m FROM pay GROUP BY emp) AS y ON x.dept = y.emp;
SELECT id, name FROM emp JOIN (SELECT id AS i FROM dept) AS d ON emp.id = d.i;
SELECT * FROM dept AS d JOIN (SELECT emp AS id, amount FROM pay) AS p USING (id);
SELECT id, d.name, p.amount FROM dept AS d LEFT JOIN (SELECT emp AS id, amount FROM pay) AS p USING (id);
SELECT a, b, c FROM (SELECT a, b FROM nums) AS x NATURAL JOIN (SELECT b, c FROM nums) AS y;
SELECT x.a, y.id FROM (SELECT DISTINCT a FROM nums) AS x CROSS JOIN dept AS y;

-- Set operations
SELECT a FROM nums UNION ALL SELECT b FROM nums;
SELECT a FROM nums UNION SELECT c FROM nums;
SELECT a, b FROM nums INTERSECT SELECT b, a FROM nums;
SELECT a, b FROM nums EXCEPT SELECT b, c FROM nums;
SELECT c FROM nums EXCEPT SELECT a FROM nums EXCEPT SELECT CAST(NULL AS INT);
SELECT name FROM emp UNION SELECT name FROM dept UNION SELECT note FROM pay;
SELECT name FROM emp INTERSECT SELECT note FROM pay;
SELECT id FROM emp EXCEPT SELECT emp FROM pay;
SELECT emp FROM pay EXCEPT SELECT id FROM emp;
SELECT a, COUNT(*) FROM (SELECT a FROM nums UNION ALL SELECT b FROM nums) AS u GROUP BY a;
SELECT dept, SUM(salary) FROM emp GROUP BY dept UNION ALL SELECT emp, SUM(amount) FROM pay GROUP BY emp;
SELECT x FROM (SELECT a AS x FROM nums UNION SELECT b FROM nums) AS u WHERE x > 0;
SELECT x, COUNT(*) FROM (SELECT a AS x, b AS y FROM nums UNION SELECT c, b FROM nums) AS u GROUP BY x;
SELECT * FROM (SELECT a FROM nums INTERSECT SELECT b FROM nums) AS q EXCEPT SELECT c FROM nums;
SELECT n FROM void UNION ALL SELECT id FROM dept;
SELECT n FROM void EXCEPT SELECT id FROM dept;
SELECT id FROM dept EXCEPT SELECT n FROM void;
SELECT id FROM dept INTERSECT SELECT n FROM void;
SELECT id, 1 FROM dept UNION ALL SELECT id, 2 FROM dept WHERE city = 'Rome';

-- Subqueries
SELECT id FROM emp WHERE dept IN (SELECT id FROM dept WHERE city = 'Rome');
SELECT id FROM emp WHERE dept NOT IN (SELECT id FROM dept WHERE city = 'Rome');
SELECT id FROM emp WHERE id IN (SELECT emp FROM pay);
SELECT id FROM emp WHERE id NOT IN (SELECT emp FROM pay);
SELECT id FROM emp WHERE id NOT IN (SELECT emp FROM pay WHERE emp IS NOT NULL);
SELECT id FROM emp WHERE boss NOT IN (SELECT n FROM void);
SELECT id FROM emp WHERE boss IN (SELECT n FROM void);
SELECT id FROM emp AS e WHERE EXISTS (SELECT 1 FROM pay AS p WHERE p.emp = e.id);
SELECT id FROM emp AS e WHERE NOT EXISTS (SELECT 1 FROM pay AS p WHERE p.emp = e.id);
SELECT id FROM emp AS e WHERE EXISTS (SELECT 1 FROM pay AS p WHERE p.emp = e.id AND p.amount > 0);
SELECT id FROM emp AS e WHERE NOT EXISTS (SELECT 1 FROM pay AS p WHERE p.emp = e.id AND p.note = e.name);
SELECT id FROM emp AS e WHERE EXISTS (SELECT 1 FROM dept WHERE city = 'Rome');
SELECT id FROM emp AS e WHERE EXISTS (SELECT 1 FROM void);
SELECT id FROM emp AS e WHERE NOT EXISTS (SELECT 1 FROM void);
SELECT id FROM emp WHERE dept IN (SELECT dept FROM emp GROUP BY dept HAVING COUNT(*) > 1);
SELECT id FROM emp WHERE salary = (SELECT MAX(salary) FROM emp);
SELECT id FROM emp WHERE salary > (SELECT MIN(salary) FROM emp WHERE dept = 1);
SELECT id FROM emp WHERE salary > (SELECT MAX(n) FROM void);
SELECT id, (SELECT COUNT(*) FROM dept) FROM emp;
SELECT id, (SELECT COUNT(*) FROM void), (SELECT MAX(n) FROM void) FROM emp;
SELECT id, salary - (SELECT MIN(salary) FROM emp) FROM emp;
SELECT e.id, (SELECT MAX(p.amount) FROM pay AS p WHERE p.emp = e.id) FROM emp AS e;
SELECT e.id, (SELECT COUNT(*) FROM pay AS p WHERE p.emp = e.id) FROM emp AS e;
SELECT e.id, (SELECT SUM(p.amount) + 1 FROM pay AS p WHERE p.emp = e.id AND p.mon = 2) FROM emp AS e;
SELECT e.id FROM emp AS e WHERE e.salary > (SELECT AVG(CAST(x.salary AS DOUBLE)) FROM emp AS x WHERE x.dept = e.dept);
SELECT e.id FROM emp AS e WHERE 2 <= (SELECT COUNT(*) FROM pay AS p WHERE p.emp = e.id);
SELECT e.id FROM emp AS e WHERE 0 = (SELECT COUNT(*) FROM pay AS p WHERE p.emp = e.id);
SELECT dept, COUNT(*) FROM emp WHERE id IN (SELECT emp FROM pay WHERE amount > 0) GROUP BY dept;
SELECT dept, n FROM (SELECT dept, COUNT(*) AS n FROM emp GROUP BY dept) AS g WHERE n >= (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM emp GROUP BY dept) AS q);
SELECT dept, COUNT(*) FROM emp WHERE boss IS NOT NULL GROUP BY dept HAVING MIN(boss) < 5 AND COUNT(*) < 3;
SELECT a, SUM(b) FROM nums WHERE a IN (SELECT dept FROM emp WHERE salary > 10) GROUP BY a HAVING SUM(b) > 1;
SELECT emp, mon, SUM(amount), COUNT(DISTINCT note) FROM pay GROUP BY emp, mon HAVING COUNT(*) > 1;
SELECT id FROM emp WHERE dept IN (SELECT id FROM dept WHERE id IN (SELECT emp FROM pay));
SELECT id FROM emp WHERE id IN (SELECT boss FROM emp) AND dept IN (SELECT id FROM dept);
SELECT d.id FROM dept AS d WHERE d.id IN (SELECT e.dept FROM emp AS e WHERE e.name = d.name);
SELECT id FROM emp WHERE (dept, boss) IN (SELECT a, b FROM nums);
WITH rich AS (SELECT id, dept FROM emp WHERE salary >= 20) SELECT r.id, d.name FROM rich AS r LEFT JOIN dept AS d ON d.id = r.dept;
WITH s AS (SELECT dept, SUM(salary) AS t FROM emp GROUP BY dept), m AS (SELECT MAX(t) AS t FROM s) SELECT s.dept FROM s JOIN m ON s.t = m.t;

-- ORDER BY and LIMIT
-- ordered
SELECT id, name FROM emp ORDER BY id;
-- ordered
SELECT id, name FROM emp ORDER BY id DESC;
-- ordered
SELECT name, id FROM emp ORDER BY name, id;
-- ordered
SELECT salary, id FROM emp ORDER BY salary DESC, id;
-- ordered
SELECT salary, id FROM emp ORDER BY salary NULLS LAST, id DESC;
-- ordered
SELECT salary, id FROM emp ORDER BY salary DESC NULLS FIRST, id LIMIT 5;
-- ordered
SELECT id FROM emp ORDER BY id LIMIT 3;
-- ordered
SELECT id FROM emp ORDER BY id LIMIT 3 OFFSET 2;
-- ordered
SELECT id FROM emp ORDER BY id LIMIT 0;
-- ordered
SELECT id FROM emp ORDER BY id LIMIT 100 OFFSET 10;
-- ordered
SELECT id, bonus FROM emp ORDER BY bonus * 2, id;
-- ordered
SELECT id, salary AS s FROM emp ORDER BY s DESC, 1 LIMIT 4;
SELECT dept, COUNT(*) AS n FROM emp GROUP BY dept ORDER BY n DESC, dept LIMIT 2;
SELECT dept, SUM(salary) AS s FROM emp GROUP BY dept ORDER BY s, dept LIMIT 3 OFFSET 1;
SELECT DISTINCT a, b FROM nums ORDER BY a, b LIMIT 4;
SELECT x FROM (SELECT a AS x FROM nums UNION ALL SELECT b FROM nums) AS u ORDER BY x LIMIT 20;
SELECT COUNT(*), SUM(id) FROM (SELECT id FROM emp ORDER BY id DESC LIMIT 4) AS q;
SELECT e.id, d.name FROM (SELECT id, dept FROM emp ORDER BY id LIMIT 6) AS e LEFT JOIN dept AS d ON d.id = e.dept;
SELECT id FROM emp WHERE id IN (SELECT id FROM emp ORDER BY salary DESC, id LIMIT 3);
SELECT a FROM nums ORDER BY a, b, c LIMIT 7;
